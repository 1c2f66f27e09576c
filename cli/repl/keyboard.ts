import { PassThrough } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { ReadStream } from 'node:tty'
import { canRedraw } from '../output/can-redraw.ts'

const PASTE_BEGIN = '\u001B[200~'
const PASTE_END = '\u001B[201~'
const INTERRUPT = '\u0003'
/** After these keys, a line is no longer read. */
// oxlint-disable-next-line no-control-regex
const LINE_ENDS = /[\r\n\u0003]/
const PENDING_LENGTH_MAX = 4 * 1024 * 1024

/** The keys of a terminal in raw mode. What is pasted arrives in one piece. */
export interface Keyboard {
  /** The keys of the line that is read. */
  readonly keys: NodeJS.ReadableStream
  /** Lets the keys of one line through. Other keys are kept for the next line. */
  readLine(): void
  /** Calls the handler when Ctrl-C is pressed, while an answer is written. */
  watchInterrupt(handler: (() => void) | null): void
  /** Gives the terminal back as it was. */
  close(): void
}

/** Asks the terminal to mark what is pasted (bracketed paste), so that a line end in it does not send the line. */
export function openKeyboard(
  stdin: ReadStream,
  stdout: NodeJS.WriteStream,
  showPasted: (text: string) => string,
): Keyboard {
  const keys = new PassThrough()
  const decoder = new StringDecoder('utf8')
  let pending = ''
  let isReading = false
  let onInterrupt: (() => void) | null = null

  /** Passes keys on up to the end of a line. The rest is for the next line. */
  const pass = (): void => {
    while (isReading && pending !== '') {
      const begin = pending.indexOf(PASTE_BEGIN)
      const end = pending.search(LINE_ENDS) + 1
      if (begin === 0 || (begin > 0 && (end === 0 || begin < end))) {
        keys.write(pending.slice(0, begin))
        pending = pending.slice(begin)
        if (!passPasted()) return
      } else {
        const length = end === 0 ? pending.length - lengthOfBegunMark(pending) : end
        if (length === 0) return
        isReading = end === 0
        const line = pending.slice(0, length)
        pending = pending.slice(length)
        keys.write(line)
      }
    }
  }
  const passPasted = (): boolean => {
    const end = pending.indexOf(PASTE_END)
    if (end === -1) return false
    keys.write(showPasted(pending.slice(PASTE_BEGIN.length, end)))
    pending = pending.slice(end + PASTE_END.length)
    return true
  }
  const onData = (part: Buffer): void => {
    pending += decoder.write(part)
    // A paste may never end.
    if (pending.length > PENDING_LENGTH_MAX) pending = ''
    if (onInterrupt === null) return pass()
    if (!pending.includes(INTERRUPT)) return
    pending = ''
    onInterrupt()
  }

  // The program may end in the middle of an answer.
  const mark = (sequence: string): void => {
    if (canRedraw(stdout)) stdout.write(sequence)
  }
  const unmark = (): void => mark('\u001B[?2004l')
  process.on('exit', unmark)
  stdin.setRawMode(true)
  stdin.on('data', onData)
  mark('\u001B[?2004h')
  return {
    keys,
    readLine() {
      isReading = true
      pass()
    },
    watchInterrupt(handler) {
      onInterrupt = handler
      if (handler !== null && pending.includes(INTERRUPT)) onData(Buffer.alloc(0))
    },
    close() {
      unmark()
      process.off('exit', unmark)
      stdin.off('data', onData)
      stdin.setRawMode(false)
      stdin.pause()
    },
  }
}

/** How much of the end may be the first half of a mark. A lone Escape is a key. */
function lengthOfBegunMark(text: string): number {
  for (let length = PASTE_BEGIN.length - 1; length > 1; length -= 1)
    if (text.endsWith(PASTE_BEGIN.slice(0, length))) return length
  return 0
}
