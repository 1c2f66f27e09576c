import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { InferenceRequest } from '../../inference/inference.ts'
import { fillInFiles } from './fill-in-files.ts'
import { FileRoom } from './file-room.ts'
import { CHAT_NAMING } from './named-files.ts'

const FILE_ID = 'file-01a1f453a9a9711e9615a634c727deac'
const FILE_BYTES = 3_000

const body: ChatRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: FILE_ID } }] }],
}
const text = JSON.stringify(body)
const request = { caller: {}, body, text, bytes: text.length } as InferenceRequest<ChatRequest>

describe('filling files into a request', () => {
  it('takes memory for them before the first is read', async () => {
    const opened: string[] = []
    const order: string[] = []
    const find = async () => ({
      purpose: 'user_data',
      filename: 'a.txt',
      mimeType: null,
      bytes: FILE_BYTES,
      open: async () => {
        opened.push('a.txt')
        order.push('read')
        return Readable.from([Buffer.alloc(FILE_BYTES, 'x')])
      },
    })
    const named = CHAT_NAMING.find(body)
    const full = new AppError('rate_limit_exceeded', 'There is no memory.')
    const takeRoom = (textBytes: number): void => {
      order.push(`take ${textBytes}`)
      if (order.length === 1) throw full
    }
    await expect(fillInFiles(CHAT_NAMING, request, { named, find, takeRoom })).rejects.toBe(full)
    expect(opened).toEqual([])
    const filled = await fillInFiles(CHAT_NAMING, request, { named, find, takeRoom })
    expect(order).toEqual(['take 4000', 'take 4000', 'read'])
    expect(filled.bytes).toBeGreaterThan(4_000)
  })
})

describe('the memory for files of requests without a connection', () => {
  const take = (room: FileRoom, accountId: string, textBytes: number, cancellation = new Cancellation()) => {
    const state = { isTaken: false, giveBack: () => {} }
    const taking = room.take({ accountId, textBytes, cancellation }).then((giveBack) => {
      Object.assign(state, { isTaken: true, giveBack })
    })
    return { state, taking }
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  it('is waited for, in turn, and an account has half of it', async () => {
    const room = new FileRoom(800)
    const [first, second, other] = [take(room, 'a', 60), take(room, 'a', 60), take(room, 'b', 60)]
    await settled()
    expect([first, second, other].map(({ state }) => state.isTaken)).toEqual([true, false, true])
    first.state.giveBack()
    await settled()
    expect(second.state.isTaken).toBe(true)
  })

  it('is enough for one request of any size, and a cancelled one waits no longer', async () => {
    const room = new FileRoom(800)
    const [large, waiting] = [take(room, 'a', 10_000), take(room, 'b', 1)]
    const cancellation = new Cancellation()
    const left = take(room, 'c', 1, cancellation)
    await settled()
    expect([large.state.isTaken, waiting.state.isTaken]).toEqual([true, false])
    const reason = new Error('the batch was stopped')
    cancellation.cancel(reason)
    await expect(left.taking).rejects.toBe(reason)
    large.state.giveBack()
    await settled()
    expect([waiting.state.isTaken, left.state.isTaken]).toEqual([true, false])
  })
})
