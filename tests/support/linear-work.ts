/** Work in proportion to a text of this length takes milliseconds. Work in proportion to its square takes minutes. */
export const LONG_TEXT_LENGTH = 250_000

/** Time limit of a test with such texts: far above the one on a loaded machine, and below the other. */
export const LINEAR_MS_MAX = 60_000
