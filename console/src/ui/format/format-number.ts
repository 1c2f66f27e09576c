/** Numbers as the reader's language writes them. The words around them are English. */
const PLURALS = new Intl.PluralRules('en')

const formats = new Map<string, Intl.NumberFormat>()

/** Returns a format in the locale of the browser, made once. */
export function numberFormat(name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const known = formats.get(name)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(undefined, options)
  formats.set(name, made)
  return made
}

/** Writes a number with as many digits behind the point: `12,345.6`. */
export function formatNumber(value: number, digits = 0): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return numberFormat(`number ${digits}`, options).format(value)
}

/** The form of a word that follows a number. */
export function pluralOf(count: number, one: string, several = `${one}s`): string {
  return PLURALS.select(count) === 'one' ? one : several
}
