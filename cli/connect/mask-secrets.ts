const SHOWN = 11
const SECRET_NAME = /key|token|secret|password|bearer|credential/i
/** Long words without the characters of addresses and sentences. */
const SECRET_VALUE = /[\w+=-]{20,}/g

/** Hides the key, and what looks like another secret in the file, from a line that is shown. */
export function maskSecrets(line: string, key: string): string {
  const masked = key === '' ? line : line.replaceAll(key, `${key.slice(0, SHOWN)}…`)
  if (!SECRET_NAME.test(masked)) return masked
  return masked.replaceAll(SECRET_VALUE, (word) => (/\d/.test(word) ? `${word.slice(0, SHOWN)}…` : word))
}
