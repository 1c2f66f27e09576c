/** Separates the arrays. The ASCII unit separator, which no name needs. */
export const SEPARATOR = '\u001F'

/** The separator, and the one character that PostgreSQL cannot store. */
const UNFIT_LETTERS = [SEPARATOR, '\0']

export function quote(name: string): string {
  const fit = UNFIT_LETTERS.reduce((text, letter) => text.replaceAll(letter, '\uFFFD'), name)
  return `"${fit.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
