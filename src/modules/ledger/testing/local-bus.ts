import type { LedgerOptions } from '../ledger.ts'

/** A message bus between ledgers of one test, for histories by the thousand: a message is a call. */
export function createLocalBus(): LedgerOptions['messageBus'] {
  const handlers = new Map<string, Set<(payload: string) => unknown>>()
  const send = async (topic: string, payload: string): Promise<void> => {
    await Promise.all([...(handlers.get(topic) ?? [])].map(async (handler) => handler(payload)))
  }
  return {
    subscribe: (topic, handler) => {
      const known = handlers.get(topic) ?? new Set()
      handlers.set(topic, known.add(handler))
      return () => void known.delete(handler)
    },
    publish: send,
    publishAndConfirm: async (topic, payload) => {
      await send(topic, payload)
      return { confirmed: true }
    },
    onConnectionLost: () => () => {},
  }
}
