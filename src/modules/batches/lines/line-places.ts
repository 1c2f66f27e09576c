import { LineMemory } from './line-memory.ts'
import { bytesOf, type WaitingLine } from './line-window.ts'

/** Lines that have an answer which is not written yet. A process that dies asks them again, without a charge. */
const UNWRITTEN_MAX = 256

/** The place of one line that was begun. */
export interface LinePlace {
  /** It waits for a vendor, and takes no memory. */
  readonly hand: () => void
  /** It has its answer. */
  readonly answer: () => void
  /** It has ended, and is written. */
  readonly end: () => void
}

/** What the lines of a batch that were begun take. */
export class LinePlaces {
  readonly #memory: LineMemory
  readonly #onChange: () => void
  #begun = 0
  #running = 0
  #unwritten = 0

  constructor(onChange: () => void, answerBytesUsual?: number) {
    this.#onChange = onChange
    this.#memory = new LineMemory(answerBytesUsual)
  }

  /** Lines that have not ended, with those that wait for a vendor or for their answer to be written. */
  get begun(): number {
    return this.#begun
  }

  /** Lines that are asked in this moment. */
  get running(): number {
    return this.#running
  }

  /** How long the body of the next line may be. Negative: none may begin. */
  get room(): number {
    return this.#unwritten < UNWRITTEN_MAX ? this.#memory.room : -1
  }

  noteAnswer(bytes: number): void {
    this.#memory.noteAnswer(bytes)
  }

  begin(line: WaitingLine): LinePlace {
    const bytes = bytesOf(line)
    let isRunning = true
    let isKept = true
    let isUnwritten = false
    this.#begun += 1
    this.#running += 1
    this.#memory.begin(bytes)
    const leave = (): void => {
      if (!isRunning) return
      isRunning = false
      this.#running -= 1
      this.#onChange()
    }
    const forget = (): void => {
      if (!isKept) return
      isKept = false
      this.#memory.end(bytes)
    }
    return {
      hand: () => {
        leave()
        forget()
      },
      answer: () => {
        leave()
        isUnwritten = true
        this.#unwritten += 1
      },
      end: () => {
        leave()
        forget()
        if (isUnwritten) this.#unwritten -= 1
        this.#begun -= 1
        this.#onChange()
      },
    }
  }
}
