import { expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import { filterByAudio } from './filter-by-audio.ts'

it('a spoken answer without a price is refused although the provider accepts the member', () => {
  const model = createCatalog({ now: () => 0 }).resolve('gpt-4o')
  if (!model) throw new Error('no such model')
  const provider = { id: 'any', isConfigured: true, takenMembers: new Set(['modalities']) }
  const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 }
  const candidate = { provider, upstreamModel: 'any', timeouts, streamTimeouts: timeouts, breaker: null }
  const own = { ...candidate, provider: { ...provider, onDisconnect: 'stops' as const } }
  const body = { model: 'gpt-4o', messages: [], modalities: ['text', 'audio'] }
  expect(() => filterByAudio(model, body, [candidate])).toThrow(/price for spoken answers/)
  expect(filterByAudio(model, body, [candidate, own])).toEqual([own])
  const written = { ...body, modalities: ['text'] }
  expect(filterByAudio(model, written, [candidate])).toEqual([candidate])
})
