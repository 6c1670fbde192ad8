/** JSX for applications: `"jsxImportSource": "tsweb"` in their tsconfig.json. */
export * from "preact/jsx-runtime";
