import { setTimeout as delay } from 'node:timers/promises'
import type { Extra, InvoiceLine } from './invoice-line.ts'
import { countTokens } from './tokens.ts'
import { Refused, type VendorCall } from './vendor-server.ts'

/** A prompt as a vendor counts it. */
export interface PromptCounts {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens?: number
  readonly cacheWriteHourTokens?: number
  readonly audioPromptTokens?: number
}

/** A request as a vendor reads it. */
export interface Asked {
  readonly model: string
  readonly prompt: PromptCounts
  /** The longest answer of the model, and what the request allows of it. */
  readonly outputMax: number
  readonly outputLimit: number | null
  readonly choices: number
  readonly isStream: boolean
  readonly isThinking: boolean
  readonly extras: readonly Extra[]
  readonly factor: number
}

/** What a vendor reports at the end of an answer. */
export interface Reported extends PromptCounts {
  /** Includes the reasoning. */
  readonly completionTokens: number
  readonly reasoningTokens: number
}

/** How a vendor's wire writes an answer. */
export interface AnswerWire {
  readonly start: (asked: Asked) => readonly string[]
  readonly piece: (text: string, choice: number, asked: Asked) => string
  readonly end: (asked: Asked, usage: Reported, text: string) => readonly string[]
  readonly whole: (asked: Asked, usage: Reported, text: string) => string
}

/**
 * What goes on when the connection is closed: nothing at a server of one's own, complete answers and reasoning where a vendor
 * stops only streams, and everything elsewhere.
 */
export type OnDisconnect = 'stops' | 'streams stop' | 'continues'

/** Faster than the large models of today, and slower than the fastest hardware. */
const THOUGHTS_PER_SECOND = 1_000
const TOKENS_PER_SECOND = 20_000
/** How long the end of a connection takes from one end to the other in one process, and a vendor to notice it. */
const TURNS_OF_A_CLOSE = 8
const PIECES_MAX = 12

/** Does the planned work, answers, and writes the line of the invoice. */
export async function performWork(
  call: VendorCall,
  asked: Asked,
  wire: AnswerWire,
  onDisconnect: OnDisconnect,
): Promise<void> {
  if (call.planned.plan.failure === 'refused') throw new Refused('the vendor takes no such request')
  const work = new Work(call, asked, wire, onDisconnect)
  const isDone = asked.isStream ? await work.stream() : await work.answer()
  if (!isDone) work.billLeft()
}

/** The work on one request. Its steps return false once the connection is closed. */
class Work {
  readonly #call: VendorCall
  readonly #asked: Asked
  readonly #wire: AnswerWire
  readonly #onDisconnect: OnDisconnect
  readonly #billsToEnd: boolean
  readonly #thoughts: number
  readonly #pieces: readonly string[]
  readonly #text: string
  #sent = ''
  #isClosed = false

  constructor(call: VendorCall, asked: Asked, wire: AnswerWire, onDisconnect: OnDisconnect) {
    const { plan } = call.planned
    this.#call = call
    this.#asked = asked
    this.#wire = wire
    this.#onDisconnect = onDisconnect
    const limit = Math.min(asked.outputLimit ?? asked.outputMax, asked.outputMax)
    this.#thoughts = asked.isThinking ? Math.min(thoughtsIn(plan.thinkMs), limit) : 0
    this.#pieces = writePieces(Math.max(Math.min(plan.outputTokens, limit - this.#thoughts), 0))
    this.#text = this.#pieces.join('')
    const isStopped = onDisconnect === 'streams stop' && asked.isStream && !asked.isThinking
    this.#billsToEnd = onDisconnect !== 'stops' && !isStopped
    if (!this.#billsToEnd) call.planned.stopsWith(call.over)
    void call.closed.then(() => {
      this.#isClosed = true
    })
  }

  async answer(): Promise<boolean> {
    const { response, planned } = this.#call
    if (planned.plan.pauseAfter !== null) await planned.pause(this.#call.closed)
    if (!(await this.#think())) return false
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(this.#wire.whole(this.#asked, this.#usage, this.#text))
    this.#bill(this.#text, this.#thoughts, true)
    return true
  }

  async stream(): Promise<boolean> {
    const { response, planned, closed } = this.#call
    const { pauseAfter, failure } = planned.plan
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(this.#wire.start(this.#asked).join(''))
    if (pauseAfter === -1) await planned.pause(closed)
    if (!(await this.#think())) return false
    for (const [index, piece] of this.#pieces.entries()) {
      if (index === pauseAfter && !(await this.#pause())) return false
      if (index > 0 && !(await this.#make(piece))) return false
      if (failure === 'cut' && index > 0) {
        response.destroy()
        return true
      }
      await this.#write(piece)
    }
    const isLate = pauseAfter !== null && pauseAfter >= this.#pieces.length
    if ((isLate && !(await this.#pause())) || this.#isClosed) return false
    response.end(this.#wire.end(this.#asked, this.#usage, this.#text).join(''))
    this.#bill(this.#text, this.#thoughts, true)
    return true
  }

  /** Writes the line of work whose connection was closed. */
  billLeft(): void {
    if (this.#billsToEnd) this.#bill(this.#text, this.#thoughts, false)
    else if (this.#onDisconnect === 'streams stop' || this.#sent !== '') this.#bill(this.#sent, 0, false)
  }

  async #think(): Promise<boolean> {
    const timeMs = (this.#thoughts * 1000) / THOUGHTS_PER_SECOND
    if (timeMs > 0) await Promise.race([delay(timeMs), this.#call.closed])
    return !this.#isClosed
  }

  async #pause(): Promise<boolean> {
    const { planned, closed } = this.#call
    planned.sentLength = this.#sent.length * this.#asked.choices
    await planned.pause(closed)
    return !this.#isClosed
  }

  /** What is on its way while the connection is being closed reaches nobody, and is not billed. */
  async #write(piece: string): Promise<void> {
    for (let choice = 0; choice < this.#asked.choices; choice += 1)
      this.#call.response.write(this.#wire.piece(piece, choice, this.#asked))
    this.#call.planned.hasWritten = true
    for (let turn = 0; turn < TURNS_OF_A_CLOSE && !this.#isClosed; turn += 1) await nextTurn()
    if (!this.#isClosed) this.#sent += piece
  }

  /** Takes the time of a vendor that no other beats. */
  async #make(piece: string): Promise<boolean> {
    const timeMs = (countTokens(piece) * 1000) / TOKENS_PER_SECOND
    await Promise.race([delay(timeMs), this.#call.closed])
    return !this.#isClosed
  }

  get #usage(): Reported {
    return usageOf(this.#asked, countTokens(this.#text) + this.#thoughts, this.#thoughts)
  }

  #bill(text: string, thoughts: number, isWhole: boolean): void {
    const usage = usageOf(this.#asked, countTokens(text) + thoughts, thoughts)
    const seen = isWhole ? usage : usageOf(this.#asked, countTokens(this.#sent), 0)
    this.#call.vendor.lines.push(lineOf(this.#call, this.#asked, { usage, seen, isWhole }))
  }
}

function thoughtsIn(timeMs: number): number {
  return Math.round((timeMs * THOUGHTS_PER_SECOND) / 1000)
}

function usageOf({ prompt, choices }: Asked, tokens: number, thoughts: number): Reported {
  return { ...prompt, completionTokens: tokens * choices, reasoningTokens: thoughts * choices }
}

interface Done {
  readonly usage: Reported
  readonly seen: Reported
  readonly isWhole: boolean
}

function lineOf(call: VendorCall, asked: Asked, { usage, seen, isWhole }: Done): InvoiceLine {
  return {
    caseNumber: call.planned.number,
    vendor: call.vendor.name,
    model: asked.model,
    counts: usage,
    seen,
    pictures: null,
    extras: asked.extras,
    factor: asked.factor,
    isWhole,
  }
}

/** Words that have one token each after a space. */
const WORDS = ' the of and to in is that for it with as on by this from or an are not you'.split(/(?= )/)

/** Writes this many tokens as a few pieces of text. */
function writePieces(tokens: number): string[] {
  const words = Array.from({ length: tokens }, (_, index) => WORDS[(index * 7) % WORDS.length] ?? '')
  const size = Math.max(Math.ceil(tokens / PIECES_MAX), 1)
  const pieces: string[] = []
  for (let from = 0; from < words.length; from += size) pieces.push(words.slice(from, from + size).join(''))
  return pieces
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
