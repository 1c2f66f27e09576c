import { expect, test } from 'vitest'
import type { Provider } from '../../providers/provider.ts'
import { Untranslatable } from '../../wires/untranslatable.ts'
import type { Candidate } from '../inference/inference.ts'
import { filterByWire } from './filter-by-wire.ts'

const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 }

function candidate(id: string, members: Partial<Provider>): Candidate {
  const provider = { id, isConfigured: true, ...members }
  return { provider, upstreamModel: id, timeouts, streamTimeouts: timeouts, breaker: null }
}

const native = { 'anthropic-messages': () => Promise.reject(new Error('not asked')) }
const translated = candidate('translated', {})
const nativeOne = candidate('native', { native })
const allowed = candidate('allowed', { native, takenMembers: new Set(['web_search']) })
const all = [translated, nativeOne, allowed]

const plain = { untranslatable: null, features: [] }
const search = { member: 'web_search', param: 'tools.0.type', what: 'A search' }
const untranslatable = new Untranslatable('only natively', 'messages.0')

test('every provider may serve what all models can do', () => {
  expect(filterByWire('anthropic-messages', plain, all)).toBe(all)
})

test('only providers that speak the wire may serve what cannot be translated', () => {
  const demands = { ...plain, untranslatable }
  expect(filterByWire('anthropic-messages', demands, all)).toEqual([nativeOne, allowed])
  expect(() => filterByWire('anthropic-messages', demands, [translated])).toThrow(untranslatable)
  expect(() => filterByWire('openai-responses', demands, all)).toThrow(untranslatable)
})

test("only providers with the operator's permission may serve what is billed besides tokens", () => {
  const demands = { untranslatable, features: [search] }
  expect(filterByWire('anthropic-messages', demands, all)).toEqual([allowed])
  expect(() => filterByWire('anthropic-messages', demands, [translated, nativeOne])).toThrow('not taken here')
  const unknown = { untranslatable, features: [{ ...search, member: null }] }
  expect(() => filterByWire('anthropic-messages', unknown, all)).toThrow('not taken here')
})
