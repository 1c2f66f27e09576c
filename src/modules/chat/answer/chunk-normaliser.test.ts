import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChunkNormaliser } from './chunk-normaliser.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\n', '"', '\\', 'é', '😀', ''),
)
const delta = fc.oneof(
  { weight: 6, arbitrary: fc.record({ content: text }) },
  { weight: 2, arbitrary: fc.record({ content: fc.constant(null), reasoning_content: text }) },
  fc.record({ role: fc.constant('assistant'), content: text }),
  fc.record({ content: text, refusal: text }),
  fc.record({ tool_calls: fc.constant([{ index: 0, function: { arguments: '{"content":"x"}' } }]) }),
  fc.constant({}),
)
const chunk = fc
  .record({
    delta,
    finish: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, fc.constantFrom('stop', undefined)),
    usage: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      fc.constantFrom(null, { prompt_tokens: 3, completion_tokens: 4 }),
    ),
    logprobs: fc.constantFrom(null, null, null, undefined, { content: [] }),
    model: fc.constantFrom('ours', 'ours', 'theirs'),
    obfuscation: fc.option(fc.string(), { nil: undefined }),
    fingerprint: fc.constantFrom(undefined, 'fp_1'),
  })
  .map(({ finish, usage, model, obfuscation, fingerprint, ...choice }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    system_fingerprint: fingerprint,
    choices: [{ index: 0, finish_reason: finish, ...choice }],
    usage,
    obfuscation,
  }))

test('a chunk becomes the same JSON and usage whether it is parsed or matched by a template', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), fc.boolean(), (chunks, isUsageAsked) => {
      const context = { provider: 'p', requestedModel: 'ours', startedMs: 0 }
      const recognising = new ChunkNormaliser(context, { kind: 'chat', isUsageAsked })
      const parsing = new ChunkNormaliser(context, { kind: 'chat', isUsageAsked })
      for (const [index, sent] of chunks.entries()) {
        const json = JSON.stringify(sent)
        const left = recognising.read(Buffer.from(json))
        // Each of these starts with a different number of spaces, so no template matches and each is parsed.
        const right = parsing.read(Buffer.from(' '.repeat(index) + json))
        expect(left && JSON.parse(String(left))).toEqual(right && JSON.parse(String(right)))
      }
      expect(recognising.hasFinished).toBe(parsing.hasFinished)
      expect(recognising.reportedUsage).toEqual(parsing.reportedUsage)
      const countCharacters = (given: ChunkNormaliser) => given.delivered.countTokens((all) => all.length)
      expect(countCharacters(recognising)).toBe(countCharacters(parsing))
    }),
    { numRuns: 500 },
  )
})
