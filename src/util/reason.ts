/** What a thrown value says, whatever was thrown: an error of another realm, or something that is no error. Never throws. */
export function reasonOf(error: unknown): string {
  try {
    const { message } = Object(error) as { message?: unknown };
    return typeof message === 'string' ? message : String(error);
  } catch {
    // An object without a prototype, or one that throws as it is read.
    return 'an error without a message';
  }
}
