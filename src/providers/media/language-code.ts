/**
 * Returns the ISO 639-1 code for an upstream's name of a language: `en`, `eng`, `en-US` or `English`. Null if it is not a
 * language.
 */
export function toLanguageCode(language: string): string | null {
  const name = language.trim().toLowerCase()
  const code = codeOfName().get(name)
  if (code !== undefined) return code
  try {
    const canonical = new Intl.Locale(name.replaceAll('_', '-')).language
    return canonical.length <= CODE_LENGTH_MAX ? canonical : null
  } catch {
    return null
  }
}

/** Some languages have only a three-letter code. */
const CODE_LENGTH_MAX = 3
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

let codes: Map<string, string> | undefined

function codeOfName(): Map<string, string> {
  if (codes !== undefined) return codes
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  codes = new Map([
    ['mandarin', 'zh'],
    ['castilian', 'es'],
  ])
  for (const first of LETTERS) {
    for (const second of LETTERS) {
      const name = names.of(first + second)?.toLowerCase()
      if (name !== undefined && !codes.has(name)) codes.set(name, new Intl.Locale(first + second).language)
    }
  }
  return codes
}
