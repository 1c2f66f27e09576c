import { printable } from '../output/printable.ts'

/** One line of the screen shows a text of several lines with these signs. */
const LINE_SIGN = '␊'
const TAB_SIGN = '␉'
/** Editing a longer line takes too long, as each key draws all of it again. */
const SHOWN_LENGTH_MAX = 1_000
const KEPT_LENGTH_MAX = 4 * 1024 * 1024

/** Shows several lines as one line that can be edited. */
export function toOneLine(text: string): string {
  return printable(text.replaceAll(/\r\n?/g, '\n')).replaceAll('\n', LINE_SIGN).replaceAll('\t', TAB_SIGN)
}

/** The texts that were pasted into the line that is edited. Long ones are shown as their number. */
export interface PastedTexts {
  /** Returns what to show for a text. */
  add(text: string): string
  /** Returns a line with the texts that it shows. */
  restore(line: string): string
}

export function createPastedTexts(): PastedTexts {
  const kept = new Map<string, string>()
  return {
    add(text) {
      const line = toOneLine(text)
      if (line.length <= SHOWN_LENGTH_MAX) return line
      const whole = fromOneLine(line).slice(0, KEPT_LENGTH_MAX)
      const name = `[pasted text ${kept.size + 1}: ${whole.split('\n').length} lines]`
      kept.set(name, whole)
      return name
    },
    restore: (line) =>
      [...kept].reduce((restored, [name, text]) => restored.replaceAll(name, () => text), fromOneLine(line)),
  }
}

function fromOneLine(line: string): string {
  return line.replaceAll(LINE_SIGN, '\n').replaceAll(TAB_SIGN, '\t')
}
