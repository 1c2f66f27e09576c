import { expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { screenSound } from './screen-sound.ts'

it('a spoken answer without a price is refused although the provider accepts the member', () => {
  const model = createCatalog().resolve('gpt-4o')
  if (!model) throw new Error('no such model')
  const provider = { id: 'any', isConfigured: true, takenMembers: new Set(['modalities']) }
  const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 }
  const candidate = { provider, upstreamModel: 'any', timeouts, streamTimeouts: timeouts, breaker: null }
  const own = { ...candidate, provider: { ...provider, whenLeft: 'stops' as const } }
  const body = { model: 'gpt-4o', messages: [], modalities: ['text', 'audio'] }
  expect(() => screenSound(model, body, [candidate])).toThrow(/price for spoken answers/)
  expect(screenSound(model, body, [candidate, own])).toEqual([own])
  const written = { ...body, modalities: ['text'] }
  expect(screenSound(model, written, [candidate])).toEqual([candidate])
})
