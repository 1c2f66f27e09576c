import { appendFileSync, renameSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const FILE_BYTES_MAX = 256 * 1024
const LINE_LENGTH_MAX = 2_000
const RECENT_MAX = 40
/** Lines are buffered up to this length, so that many short lines need one write. */
const PENDING_LENGTH_MAX = 16 * 1024
const NAMES = ['log.old', 'log'] as const

/** The log of an engine, kept in two files of bounded size. */
export class BoundedLog {
  readonly #path: string
  #bytes: number
  #partial = ''
  #isCut = false
  #recent: string[] = []
  #pending = ''

  constructor(directory: string) {
    this.#path = join(directory, 'log')
    this.#bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Adds a chunk of the engine's output. */
  write(text: string): void {
    const lines = (this.#partial + text).split('\n')
    this.#partial = lines.pop() ?? ''
    for (const line of lines) {
      if (!this.#isCut) this.#say(line)
      this.#isCut = false
    }
    if (this.#partial.length > LINE_LENGTH_MAX) {
      // Log the start of an overlong line and drop the rest.
      if (!this.#isCut) this.#say(this.#partial)
      this.#isCut = true
      this.#partial = ''
    }
    if (this.#pending !== '') this.#flush()
  }

  /** Returns the engine's last lines since the previous call, at most `RECENT_MAX`. */
  takeRecent(): readonly string[] {
    if (this.#partial !== '' && !this.#isCut) this.#say(this.#partial)
    this.#partial = ''
    this.#isCut = false
    const recent = this.#recent
    this.#recent = []
    return recent
  }

  #say(text: string): void {
    const line = toPrintable(text).slice(0, LINE_LENGTH_MAX)
    if (line.trim() === '') return
    this.#recent.push(line)
    if (this.#recent.length > RECENT_MAX) this.#recent.shift()
    this.#pending += toLine(line)
    if (this.#pending.length > PENDING_LENGTH_MAX) this.#flush()
  }

  /** Adds a line of the keeper. */
  line(text: string): void {
    this.#pending += toLine(text.slice(0, LINE_LENGTH_MAX))
    this.#flush()
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending)
    this.#pending = ''
    try {
      if (this.#bytes + bytes.length > FILE_BYTES_MAX) {
        renameSync(this.#path, `${this.#path}.old`)
        this.#bytes = 0
      }
      appendFileSync(this.#path, bytes, { mode: 0o600 })
      this.#bytes += bytes.length
    } catch {
      // On a full disk or without the directory, lines are lost but the engine keeps running.
    }
  }
}

function toLine(text: string): string {
  return `${new Date().toISOString()} ${text}\n`
}

/** Returns the last lines, oldest first. */
export async function readLastLines(directory: string, linesMax: number): Promise<readonly string[]> {
  const texts = await Promise.all(
    NAMES.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')),
  )
  const lines = texts.join('').split('\n')
  return linesMax < 1 ? [] : lines.filter((line) => line !== '').slice(-linesMax)
}

/** Removes terminal control characters. Keeps only the text after the last carriage return, as a terminal shows it. */
function toPrintable(text: string): string {
  const shown = text.replace(/\r+$/, '').split('\r').at(-1) ?? ''
  return stripVTControlCharacters(shown).replaceAll(/[^\P{Cc}\t]/gu, '')
}
