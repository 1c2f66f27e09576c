import { LINE_END, readHead, readValue, toHead, type RequestHead } from './read-head.ts'

/**
 * Reads the heads of one connection like `readHead`. They differ only in a few values, such as length and key. Once these lines
 * are known, only their values are read.
 */
export class HeadReader {
  #text = ''
  #head: RequestHead | null = null
  #lines: readonly string[] = []
  /** Numbers of the lines whose values have changed. */
  #changing: readonly number[] = []
  /** Their header names. */
  #names: readonly string[] = []
  /** The constant text before, between and after their values. */
  #fixed: readonly string[] = []

  read(text: string): RequestHead | null {
    if (text === this.#text) return this.#head
    const head = this.#readValues(text) ?? this.#readWhole(text)
    this.#text = text
    this.#head = head
    return head
  }

  /** Returns null if anything else differs. */
  #readValues(text: string): RequestHead | null {
    const last = this.#head
    const names = this.#names
    if (last === null || names.length === 0) return null
    const headers = { ...last.headers }
    let at = 0
    for (let index = 0; index < names.length; index += 1) {
      const fixed = this.#fixed[index] ?? ''
      const start = at + fixed.length
      // `slice` is faster here than `startsWith`, which compares character by character.
      if (text.slice(at, start) !== fixed) return null
      at = endOfLine(text, start)
      const value = readValue(text.slice(start, at))
      if (value === null) return null
      headers[names[index] ?? ''] = value
    }
    const rest = this.#fixed[names.length] ?? ''
    if (text.slice(at) !== rest) return null
    return toHead(last.url, headers)
  }

  #readWhole(text: string): RequestHead | null {
    const head = readHead(text)
    const lines = head === null ? [] : text.split(LINE_END)
    const isAlike =
      lines.length === this.#lines.length && lines.every((line, index) => this.#isLike(line, index))
    this.#changing = isAlike
      ? [...lines.keys()].filter(
          (index) => this.#changing.includes(index) || lines[index] !== this.#lines[index],
        )
      : []
    this.#lines = lines
    this.#names = this.#changing.map((index) => nameOf(lines[index] ?? '').toLowerCase())
    this.#fixed = toFixed(lines, this.#changing)
    return head
  }

  #isLike(line: string, index: number): boolean {
    const known = this.#lines[index] ?? ''
    return line === known || (index > 0 && nameOf(line) === nameOf(known))
  }
}

function toFixed(lines: readonly string[], changing: readonly number[]): string[] {
  const starts = [...changing, lines.length]
  return starts.map((line, index) => {
    const first = (changing[index - 1] ?? -1) + 1
    const whole = lines
      .slice(first, line)
      .map((text, number) => (first + number === 0 ? text : LINE_END + text))
    return whole.join('') + (line === lines.length ? '' : `${LINE_END}${nameOf(lines[line] ?? '')}:`)
  })
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':'))
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf(LINE_END, start)
  return end === -1 ? text.length : end
}
