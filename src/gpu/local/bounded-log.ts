import { appendFileSync, renameSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const FILE_BYTES_MAX = 256 * 1024
const LINE_LENGTH_MAX = 2_000
const RECENT_MAX = 40
/** Written at once; many short lines cost one write. */
const PENDING_LENGTH_MAX = 16 * 1024
const NAMES = ['log.old', 'log'] as const

/** The last lines of an engine, in two files of bounded size. */
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

  /** What the engine wrote, in pieces as they come. */
  write(text: string): void {
    const lines = (this.#partial + text).split('\n')
    this.#partial = lines.pop() ?? ''
    for (const line of lines) {
      if (!this.#isCut) this.#say(line)
      this.#isCut = false
    }
    if (this.#partial.length > LINE_LENGTH_MAX) {
      // The rest of a line that does not end is left out.
      if (!this.#isCut) this.#say(this.#partial)
      this.#isCut = true
      this.#partial = ''
    }
    if (this.#pending !== '') this.#flush()
  }

  /** What the engine said last, since this was asked before. */
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

  /** What the keeper has to say. */
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
      // A full disk or a directory that is gone costs lines, not the engine.
    }
  }
}

function toLine(text: string): string {
  return `${new Date().toISOString()} ${text}\n`
}

/** Oldest first. */
export async function readLastLines(directory: string, linesMax: number): Promise<readonly string[]> {
  const texts = await Promise.all(
    NAMES.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')),
  )
  const lines = texts.join('').split('\n')
  return linesMax < 1 ? [] : lines.filter((line) => line !== '').slice(-linesMax)
}

/** Colours and progress bars are for terminals; a carriage return begins the line anew. */
function toPrintable(text: string): string {
  const shown = text.replace(/\r+$/, '').split('\r').at(-1) ?? ''
  return stripVTControlCharacters(shown).replaceAll(/[^\P{Cc}\t]/gu, '')
}
