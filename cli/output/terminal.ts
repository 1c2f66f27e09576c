import { styleText } from 'node:util'
import { EXIT } from '../exit-codes.ts'
import { sizeOf } from './can-redraw.ts'
import { formatRelative } from './format-time.ts'
import { printableStyled } from './printable.ts'

type Style = Parameters<typeof styleText>[0]

/**
 * Where a command writes: data to stdout, everything else to stderr. Text may come from a gateway, and no gateway may give orders
 * to the terminal: everything is cleaned here, except for styles of our own, so that no command can forget it.
 */
export interface Output {
  /** Whether data goes to a person's screen. */
  readonly isTerminal: boolean
  /** The width of the screen now; without one, lines are not cut. */
  readonly columns: number
  /** Writes data without a line end. */
  write(text: string): void
  /** Writes data that another program gets byte for byte. A screen gets it cleaned. */
  copy(text: string): void
  /** Writes orders to the terminal, such as a picture. Nothing from outside may be in them. */
  control(sequence: string): void
  /** Writes a line of data: a line end in it becomes a space, so that no text from outside adds a line. */
  line(text: string): void
  /** Writes data that may have several lines, with a line end. */
  text(text: string): void
  /** Writes a line for the person, not for the next program. */
  note(text: string): void
  style(style: Style, text: string): string
  /** A timestamp of the API: for a person how long ago it is, for a program as it is. `-` for null. */
  time(timestamp: string | null | undefined): string
}

/** Colour only on a terminal, and not with `NO_COLOR`. */
export function createOutput(streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream }): Output {
  const { stdout, stderr } = streams
  const isTerminal = stdout.isTTY
  return {
    isTerminal,
    get columns() {
      return isTerminal ? sizeOf(stdout).columns : Number.POSITIVE_INFINITY
    },
    write: (text) => void stdout.write(printableStyled(text)),
    copy: (text) => void stdout.write(isTerminal ? printableStyled(text) : text),
    control: (sequence) => void stdout.write(sequence),
    line: (text) => void stdout.write(`${inOneLine(text)}\n`),
    text: (text) => void stdout.write(`${printableStyled(text)}\n`),
    note: (text) => void stderr.write(`${inOneLine(text)}\n`),
    style: (style, text) => styleText(style, text, { stream: stdout, validateStream: true }),
    time: (timestamp) => {
      if (timestamp === null || timestamp === undefined) return '-'
      return isTerminal ? formatRelative(timestamp, Date.now()) : timestamp
    },
  }
}

function inOneLine(text: string): string {
  return printableStyled(text).replaceAll('\n', ' ')
}

/** Ends the program quietly if its reader has gone (`parkway models | head`), and with a reason if its output cannot be written. */
export function endWithReader({
  stdout,
  stderr,
}: {
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok)
    const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message
    stderr.write(`parkway: The output could not be written: ${reason}.\n`)
    process.exit(EXIT.failed)
  })
}
