/** The `key=value` options after a directive's name. */
export interface DirectiveOptions {
  /** Returns null if absent. A value that is not an integer within the bounds stays unread, which makes the directive invalid. */
  integer(name: string, min: number, max: number): number | null
  word(name: string): string | null
  areAllRead(): boolean
}

const OPTION_PATTERN = /^([a-z_]{1,32})=([\w.-]{1,64})$/
const OPTIONS_MAX = 8

/** Returns null if the text contains anything but options. */
export function readDirectiveOptions(text: string): DirectiveOptions | null {
  const words = text.split(/\s+/, OPTIONS_MAX + 1).filter((word) => word !== '')
  const unread = new Map<string, string>()
  for (const word of words) {
    const [, name, value] = OPTION_PATTERN.exec(word) ?? []
    if (name === undefined || value === undefined || unread.has(name)) return null
    unread.set(name, value)
  }
  if (unread.size > OPTIONS_MAX) return null
  return {
    integer(name, min, max) {
      const text = unread.get(name) ?? ''
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
      if (!(value >= min && value <= max)) return null
      unread.delete(name)
      return value
    },
    word(name) {
      const value = unread.get(name) ?? null
      unread.delete(name)
      return value
    },
    areAllRead: () => unread.size === 0,
  }
}
