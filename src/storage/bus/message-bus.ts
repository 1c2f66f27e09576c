import { randomUUID } from 'node:crypto'
import { AppError } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import { BusConnection, SESSION_PREFIX } from './bus-connection.ts'
import { decodeBusMessage, encodeBusMessage, type BusMessage } from './bus-message.ts'

export type MessageHandler = (payload: string) => void | Promise<void>

/** Messages between all processes of one database. Delivered at most once: a process misses messages while it is disconnected. */
export interface MessageBus {
  subscribe(topic: string, handler: MessageHandler): () => void
  publish(topic: string, payload: string): Promise<void>
  /**
   * Resolves when all listening processes, including this one, have handled the message. `confirmed` is false if one of them
   * failed or the timeout passed. Does not wait for processes that die or disconnect, because they drop their caches.
   */
  publishAndConfirm(
    topic: string,
    payload: string,
    options: { timeoutMs: number },
  ): Promise<{ confirmed: boolean }>
  /**
   * Called when messages may be missed from now on. Caches that depend on messages must be emptied and stay empty until
   * reconnection.
   */
  onConnectionLost(handler: () => void): () => void
  isConnected(): boolean
  close(): Promise<void>
}

const CHANNEL = 'parkway_bus'
const SEND_WAIT_MS = 5_000
const ROLL_CALL_MS = 250

export async function createMessageBus(options: {
  connectionString: string
  logger: Logger
}): Promise<MessageBus> {
  const bus = new DatabaseMessageBus(options)
  await bus.open()
  return bus
}

interface Confirmation {
  /** Sessions that have not answered yet. */
  readonly missing: Set<string>
  settle(confirmed: boolean): void
}

class DatabaseMessageBus implements MessageBus {
  readonly #id = randomUUID()
  readonly #answerChannel = `${CHANNEL}_${this.#id}`
  readonly #handlers = new Map<string, Set<MessageHandler>>()
  readonly #lostHandlers = new Set<() => void>()
  readonly #confirmations = new Map<string, Confirmation>()
  readonly #logger: Logger
  readonly #connection: BusConnection

  constructor({ connectionString, logger }: { connectionString: string; logger: Logger }) {
    this.#logger = logger
    this.#connection = new BusConnection({
      connectionString,
      logger,
      channels: [CHANNEL, this.#answerChannel],
      onNotification: (notification) => this.#receive(notification),
      onLost: () => {
        for (const handler of this.#lostHandlers) handler()
      },
    })
  }

  open(): Promise<void> {
    return this.#connection.open()
  }

  subscribe(topic: string, handler: MessageHandler): () => void {
    const known = this.#handlers.get(topic) ?? new Set()
    this.#handlers.set(topic, known.add(handler))
    return () => void known.delete(handler)
  }

  async publish(topic: string, payload: string): Promise<void> {
    await this.#send(CHANNEL, encodeBusMessage({ topic, id: '', replyTo: '', payload }), SEND_WAIT_MS)
  }

  async publishAndConfirm(
    topic: string,
    payload: string,
    { timeoutMs }: { timeoutMs: number },
  ): Promise<{ confirmed: boolean }> {
    const id = randomUUID()
    const text = encodeBusMessage({ topic, id, replyTo: this.#id, payload })
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), timeoutMs)
    const rollCall = setInterval(() => void this.#forgetTheGone(id), ROLL_CALL_MS)
    try {
      // Read before sending, so that each listed session is already listening and receives the message.
      const missing = new Set(await this.#readListeners(timeoutMs))
      this.#confirmations.set(id, { missing, settle: resolve })
      await this.#send(CHANNEL, text, timeoutMs)
      return { confirmed: await promise }
    } catch (error) {
      this.#logger.warn({ topic, err: error }, 'message could not be sent')
      return { confirmed: false }
    } finally {
      clearTimeout(timer)
      clearInterval(rollCall)
      this.#confirmations.delete(id)
    }
  }

  onConnectionLost(handler: () => void): () => void {
    this.#lostHandlers.add(handler)
    return () => void this.#lostHandlers.delete(handler)
  }

  isConnected(): boolean {
    return this.#connection.isConnected()
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  #receive({ channel, payload, sessionId }: { channel: string; payload: string; sessionId: string }): void {
    const message = decodeBusMessage(payload)
    if (message === null) return
    if (channel === this.#answerChannel) this.#countAnswer(message)
    else void this.#handle(message, sessionId)
  }

  async #handle({ topic, id, replyTo, payload }: BusMessage, sessionId: string): Promise<void> {
    // All handlers start in this tick, so synchronous handlers keep the order of the messages.
    const running = [...(this.#handlers.get(topic) ?? [])].map(async (handler) => handler(payload))
    const outcomes = await Promise.allSettled(running)
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) this.#logFailure(topic, failed.reason)
    if (replyTo === '') return
    const answer = encodeBusMessage({
      topic: failed ? 'failed' : 'handled',
      id,
      replyTo: sessionId,
      payload: '',
    })
    await this.#send(`${CHANNEL}_${replyTo}`, answer, SEND_WAIT_MS).catch((error: unknown) => {
      this.#logger.warn({ topic, err: error }, 'message could not be acknowledged')
    })
  }

  /** Logs an error as a warning if it is only the result of an outage, which is reported elsewhere. */
  #logFailure(topic: string, error: unknown): void {
    const level = error instanceof AppError && error.code === 'service_unavailable' ? 'warn' : 'error'
    this.#logger[level]({ topic, err: error }, 'message handler failed')
  }

  #countAnswer({ topic, id, replyTo }: BusMessage): void {
    const confirmation = this.#confirmations.get(id)
    if (!confirmation) return
    if (topic !== 'handled') return confirmation.settle(false)
    confirmation.missing.delete(replyTo)
    if (confirmation.missing.size === 0) confirmation.settle(true)
  }

  async #forgetTheGone(id: string): Promise<void> {
    const confirmation = this.#confirmations.get(id)
    const present = confirmation && (await this.#readListeners(ROLL_CALL_MS).catch(() => null))
    if (!confirmation || !present) return
    for (const session of confirmation.missing) {
      if (!present.includes(session)) confirmation.missing.delete(session)
    }
    if (confirmation.missing.size === 0) confirmation.settle(true)
  }

  async #readListeners(waitMs: number): Promise<string[]> {
    const rows = await this.#connection.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND starts_with(application_name, $1)`,
      [SESSION_PREFIX],
      waitMs,
    )
    return rows.map(({ name }) => name.slice(SESSION_PREFIX.length))
  }

  async #send(channel: string, text: string, waitMs: number): Promise<void> {
    await this.#connection.query('SELECT pg_notify($1, $2)', [channel, text], waitMs)
  }
}
