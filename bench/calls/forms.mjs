// The form of a call in each framework: its paths, its body, and its result.

const PLAIN = {
  echo: "/echo",
  echoSignedIn: "/echo_signed_in",
  signIn: "/sign_in",
  signInBody: {},
  bodyOf: (args) => args,
  resultOf: (args) => ({ result: args }),
};

export const FORMS = {
  bare: { ...PLAIN, resultOf: (args) => args },
  tsweb: {
    echo: "/__web/rpc/echo",
    echoSignedIn: "/__web/rpc/echo_signed_in",
    signIn: "/__web/rpc/sign_in",
    signInBody: { args: { email: "ada@example.org" } },
    bodyOf: (args) => ({ args }),
    resultOf: (args) => ({ result: args }),
  },
  plain: PLAIN,
  orpc: { ...PLAIN, bodyOf: (args) => ({ json: args }), resultOf: (args) => ({ json: args }) },
  trpc: { ...PLAIN, resultOf: (args) => ({ result: { data: args } }) },
  telefunc: {
    ...PLAIN,
    echo: "/_telefunc?_telefunc=txt",
    echoSignedIn: "/_telefunc?_telefunc=txt",
    contentType: "text/plain",
    bodyOf: ({ text, n }, isSignedIn) => ({
      file: "/echo.telefunc.ts",
      name: isSignedIn ? "onEchoSignedIn" : "onEcho",
      args: [text, n],
    }),
    resultOf: (args) => ({ ret: args }),
  },
};

/** Returns the form with another prefix of its paths of functions. */
export const withPrefix = (form, prefix) => ({
  ...form,
  echo: prefix + form.echo,
  echoSignedIn: prefix + form.echoSignedIn,
});
