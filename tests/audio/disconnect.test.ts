import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { wavOf } from './audio-files.ts'
import { json, TRANSCRIPT } from './audio-upstream.ts'
import {
  startAudioGateway,
  TRANSCRIPTIONS,
  WHISPER,
  WHISPER_USD,
  type AudioGateway,
} from './start-audio-gateway.ts'

let gateway: AudioGateway
beforeAll(async () => {
  gateway = await startAudioGateway()
})
afterAll(() => gateway.close())

const COST = Number((2 * WHISPER_USD).toFixed(9))

/** Requests a transcript and disconnects when the upstream has the file. The upstream answers after that. */
async function askAndLeave(status: number, answer: unknown): Promise<void> {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  gateway.upstream.answerNext(async (response, request) => {
    await left
    await json(status, answer)(response, request)
  })
  const asked = gateway.upstream.requests.length
  const controller = new AbortController()
  const form = new FormData()
  form.append('model', WHISPER)
  form.append('file', new Blob([new Uint8Array(wavOf(2))]), 'a.wav')
  const sending = fetch(gateway.baseUrl + TRANSCRIPTIONS, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
    signal: controller.signal,
  })
  await eventually(() => expect(gateway.upstream.requests.length).toBe(asked + 1))
  controller.abort()
  await expect(sending).rejects.toThrow()
  // When this answer arrives, the gateway has noticed the disconnect.
  await gateway.request('GET', '/v1/models')
  leave()
}

describe('a client that disconnects during its transcription', () => {
  test('pays, because the upstream has its file', async () => {
    const spentBefore = await gateway.spent()
    await askAndLeave(200, TRANSCRIPT)
    await eventually(async () => expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9))
    expect(await gateway.records()).toMatchObject({ outcome: 'disconnected', cost_usd: COST })
  })

  test('pays nothing if the upstream then fails, and no other route is tried', async () => {
    const spentBefore = await gateway.spent()
    const asked = gateway.upstream.requests.length
    await askAndLeave(500, { error: {} })
    const form = new FormData()
    form.append('model', WHISPER)
    form.append('file', new Blob([new Uint8Array(wavOf(2))]), 'a.wav')
    const { status } = await fetch(gateway.baseUrl + TRANSCRIPTIONS, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: form,
    })
    expect([status, gateway.upstream.requests.length]).toEqual([200, asked + 2])
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
  })
})
