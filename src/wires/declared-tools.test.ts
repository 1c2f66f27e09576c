import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDeclaredTools } from './declared-tools.ts'

const TOOL = { type: 'web_search' }
const typesIn = (value: unknown) => findDeclaredTools(value, 'x').map(({ type }) => type)

/** Ways to put a tool into a request, one inside the other. */
const step = fc.constantFrom<(inner: unknown) => object>(
  (inner) => ({ tools: [inner] }),
  (inner) => ({ tools: [[{ type: 'function', name: 'f' }, inner]] }),
  (inner) => ({ additional_tools: inner }),
  (inner) => ({ Tools: [inner] }),
  (inner) => ({ tools: [{ type: 'namespace', name: 'n', tools: [inner] }] }),
  (inner) => ({ tools: { deferred: inner, tools: [inner] } }),
)
const wrapper = fc.constantFrom<(inner: unknown) => object>(
  (inner) => [{ type: 'message', role: 'user', content: 'x' }, inner],
  (inner) => ({ type: 'tool_search_output', content: [inner] }),
  (inner) => ({ later: { invention: inner } }),
)

describe('findDeclaredTools', () => {
  it('finds a tool wherever it is declared', () => {
    fc.assert(
      fc.property(fc.array(wrapper, { maxLength: 4 }), step, (wrappers, declare) => {
        const value = wrappers.reduce((inner, wrap) => wrap(inner), declare(TOOL))
        expect(typesIn(value)).toContain('web_search')
      }),
    )
  })

  it('names the place', () => {
    const value = { input: [{ tools: [[TOOL]] }] }
    expect(findDeclaredTools(value)).toEqual([{ tool: TOOL, type: 'web_search', param: 'input.0.tools.0.0' }])
  })

  it('does not take the data of the client for tools', () => {
    const schema = { type: 'object', properties: { tools: { type: 'array', items: { type: 'string' } } } }
    expect(typesIn({ tools: [{ type: 'function', name: 'f', parameters: schema }] })).toEqual(['function'])
    expect(typesIn({ text: { format: { schema } }, metadata: { tools: {} } })).toEqual([])
    expect(typesIn({ tool_choice: { type: 'allowed_tools', tools: [TOOL] } })).toEqual([])
    const call = { type: 'tool_use', input: { tools: [TOOL] } }
    expect(findDeclaredTools({ messages: [call] }, '', new Set(['input']))).toEqual([])
  })

  it('gives no usual type to a tool whose type is written in another way', () => {
    expect(typesIn({ tools: [{ Type: 'web_search', name: 'f' }] })).toEqual(['Type'])
    expect(typesIn({ tools: [{ type: 'function', TYPE: 'web_search' }] })).toEqual(['Type'])
    expect(typesIn({ tools: ['web_search'] })).toEqual([undefined])
  })
})
