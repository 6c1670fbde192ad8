/** Mails. This example has no mail server: replace `deliver` with a call of the service that sends your mails. */

/** A mail. The address of a registered user is in the form in which it was registered: it contains no line break. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Delivers a mail: here, to the log. */
async function deliver({ to, subject, text }: Mail): Promise<void> {
  console.info(`Mail to ${to}: ${subject}\n\n${text}\n`);
}

/**
 * Sends a mail in the background. A response never waits for it: the time of a delivery would reveal which addresses are
 * registered. A failure is logged without the text, which may contain a link that signs in.
 */
export function sendMail(mail: Mail): void {
  deliver(mail).catch((error: unknown) => {
    console.error(`A mail with the subject "${mail.subject}" was not sent: ${error}`);
  });
}
