import { cutToWidth, widthOf } from './text-width.ts'

/** Writes text that arrives in pieces, with line ends before the words that would cross the right edge. */
export interface WrappedWriter {
  write(text: string): void
  /** Writes what is held back. Call it at the end of the text. */
  flush(): void
}

interface WrapOptions {
  readonly write: (text: string) => void
  /** The width of the screen now. */
  readonly columns: () => number
}

const TAB_COLUMNS = 8
const FENCE = '```'
/** A line may be broken between any two of these, as their languages have no spaces. */
const BREAKABLE = /[\u2e80-\u303e\u3041-\ua4cf\uf900-\ufaff\uff00-\uff60\u{20000}-\u{3fffd}]/u
/** A line end, a run of blanks, one character of a language without spaces, or a word. */
const TOKENS = new RegExp(`\\n|[ \\t]+|${BREAKABLE.source}|(?:(?!${BREAKABLE.source})[^ \\t\\n])+`, 'gu')

/**
 * The last word is held back until it is complete, because it cannot be moved to the next line later. Lines of code are not
 * broken: a line end that was not in the answer would change code that is copied from the screen.
 */
export function createWrappedWriter({ write, columns }: WrapOptions): WrappedWriter {
  let held = ''
  let blanks = ''
  let column = 0
  let lineStart = ''
  let isCode = false

  const put = (text: string): void => {
    write(text)
    column += widthOf(text)
    if (lineStart.length < FENCE.length) lineStart += text.trimStart().slice(0, FENCE.length)
  }
  const endLine = (): void => {
    if (isCode) write(blanks)
    blanks = ''
    write('\n')
    if (lineStart.startsWith(FENCE)) isCode = !isCode
    column = 0
    lineStart = ''
  }
  const putWord = (word: string): void => {
    const isFence = column === 0 && word.startsWith(FENCE)
    const gap = expandTabs(blanks, column)
    blanks = ''
    if (isCode || isFence || column + gap.length + widthOf(word) <= columns()) return put(gap + word)
    if (column > 0) {
      write('\n')
      column = 0
    }
    // A word that is longer than a line is cut, as the terminal would do.
    for (let rest = word; rest !== '';) {
      const part = cutToWidth(rest, Math.max(2, columns())) || rest
      if (column > 0) write('\n')
      column = 0
      put(part)
      rest = rest.slice(part.length)
    }
  }
  const take = (token: string): void => {
    if (token === '\n') endLine()
    else if (/^[ \t]/.test(token)) blanks += token
    else putWord(token)
  }
  const firstLine = (word: string): string =>
    widthOf(word) < columns() ? '' : cutToWidth(word, Math.max(2, columns()))
  return {
    write(text) {
      const tokens: string[] = (held + text).match(TOKENS) ?? []
      held = /[ \t\n]$/.test(tokens.at(-1) ?? '') ? '' : (tokens.pop() ?? '')
      for (const token of tokens) take(token)
      // A word that fills a line needs no end to be placed.
      for (let part = firstLine(held); part !== ''; part = firstLine(held)) {
        take(part)
        held = held.slice(part.length)
      }
    },
    flush() {
      if (held !== '') take(held)
      held = ''
    },
  }
}

function expandTabs(blanks: string, column: number): string {
  let expanded = ''
  for (const blank of blanks)
    expanded += blank === '\t' ? ' '.repeat(TAB_COLUMNS - ((column + expanded.length) % TAB_COLUMNS)) : ' '
  return expanded
}
