import * as fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { EmbeddingRequest } from '../../../../wires/openai-embeddings/embedding-request.ts'
import { callContext, jsonOf, sandboxInNoTime } from '../../testing/media-client.ts'
import { MODERATION_CATEGORIES } from '../../../../wires/openai-moderations/moderation-request.ts'

const { provider } = sandboxInNoTime()
const inference = <Body>(body: Body, rest: object = {}) => ({
  ...callContext(),
  body,
  text: JSON.stringify(body),
  canReason: false,
  ...rest,
})

interface Embeddings {
  readonly data: readonly { readonly index: number; readonly embedding: number[] }[]
  readonly usage?: { readonly prompt_tokens: number; readonly total_tokens: number }
}

async function embed(body: Partial<EmbeddingRequest>, rest?: object): Promise<Embeddings> {
  return jsonOf(provider.embedding(inference({ model: 'm', input: 'x', ...body }, rest)))
}

async function similarity(left: string, right: string, dimensions: number): Promise<number> {
  const { data } = await embed({ input: [left, right], dimensions })
  return (
    data[0]?.embedding.reduce((sum, value, index) => sum + value * (data[1]?.embedding[index] ?? 0), 0) ?? 0
  )
}

test.for([
  ['How do I reset my password?', 'I forgot my login credentials', 'The recipe needs two eggs and flour'],
  ['The cat sat on the mat', 'A kitten was sitting on a rug', 'Stock markets fell sharply on Monday'],
  ['He bought a new car', 'She purchased an automobile', 'The orchestra played a symphony'],
  ['running in the park', 'She runs through parks every day', 'quantum physics lecture'],
  [
    'Where is my refund?',
    'I want my money back, please refund my payment',
    'Photosynthesis happens in leaves',
  ],
  ['The weather is cold today', 'a chilly and freezing forecast', 'Install the software on your laptop'],
  ['doctors and hospitals', 'a physician at the clinic', 'football match tonight'],
  [
    'Das Wetter in Berlin ist schön',
    'Wie wird das Wetter morgen in Berlin?',
    'Mein Hund frisst gerne Knochen',
  ],
  ['東京の天気', '明日の東京の天気予報', '猫が好きです'],
] as const)('%s is nearer to %s than to %s', async ([text, related, unrelated]) => {
  for (const dimensions of [256, 1536]) {
    const near = await similarity(text, related, dimensions)
    expect(near).toBeGreaterThan((await similarity(text, unrelated, dimensions)) + 0.05)
  }
})

test('vectors have length one and the requested dimensions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 1 }),
      fc.integer({ min: 1, max: 3000 }),
      async (input, dimensions) => {
        const { data } = await embed({ input, dimensions })
        expect(data[0]?.embedding).toHaveLength(dimensions)
        expect(data[0]?.embedding.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 4)
      },
    ),
    { numRuns: 50 },
  )
})

test('vectors are dense: no component is zero, however short the text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.integer({ min: 1, max: 1536 }), async (text, dimensions) => {
      const { data } = await embed({ input: ['x', text === '' ? ' ' : text], dimensions })
      for (const { embedding } of data) expect(embedding.every((value) => value !== 0)).toBe(true)
    }),
    { numRuns: 30 },
  )
})

test('characters that expand when normalised do not make embedding slower', async () => {
  const { data } = await embed({ input: '\ufdfa'.repeat(100_000), dimensions: 64 })
  expect(data[0]?.embedding).toHaveLength(64)
})

test('models have their own dimensions', async () => {
  const lengthOf = async (upstreamModel: string) =>
    (await embed({}, { upstreamModel })).data[0]?.embedding.length
  expect(await lengthOf('text-embedding-3-small')).toBe(1536)
  expect(await lengthOf('text-embedding-3-large')).toBe(3072)
  expect(await lengthOf('voyage-3.5')).toBe(1024)
})

test('base64 has the same numbers as little-endian floats', async () => {
  const { data } = await embed({ input: 'fox', dimensions: 64 })
  const encoded = await embed({ input: 'fox', dimensions: 64, encoding_format: 'base64' })
  const bytes = Buffer.from(encoded.data[0]?.embedding as unknown as string, 'base64')
  expect(bytes).toHaveLength(256)
  for (const [index, value] of data[0]?.embedding.entries() ?? [])
    expect(bytes.readFloatLE(index * 4)).toBeCloseTo(value, 6)
})

test('tokens are decoded to their text, and are counted', async () => {
  const text = 'Grüße aus Zürich'
  const tokens = encode(text)
  const fromText = await embed({ input: text })
  for (const input of [tokens, [tokens]]) expect(await embed({ input })).toEqual(fromText)
  expect(fromText.usage).toEqual({ prompt_tokens: tokens.length, total_tokens: tokens.length })
  await expect(embed({ input: [900_000_000] })).rejects.toMatchObject({ isRequestAtFault: true })
})

test('embeddings can be made to fail', async () => {
  await expect(embed({ input: 'x [[sandbox:error status=503]]' })).rejects.toMatchObject({
    details: { status: 503 },
  })
  expect(await embed({ input: 'x [[sandbox:usage none]]' })).not.toHaveProperty('usage')
})

interface Reranked {
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[]
  readonly meta: { readonly billed_units: { readonly search_units: number } }
}

const rerank = (body: {
  top_n?: number
  query: string
  documents: (string | { text: string })[]
}): Promise<Reranked> => jsonOf(provider.rerank(inference(body)))

test('documents are ranked by their relevance to the query', async () => {
  const documents = [
    'Bread is baked in an oven.',
    { text: 'Paris is the capital of France.' },
    'France is a country in Europe.',
    'The capital of Germany is Berlin.',
  ]
  const { results } = await rerank({ query: 'What is the capital of France?', documents })
  expect(results.map(({ index }) => index)).toEqual([1, 3, 2, 0])
  expect(results[0]?.relevance_score).toBeGreaterThan(0.6)
  expect(results[3]?.relevance_score).toBeLessThan(0.2)
  const other = await rerank({ query: 'How is bread made?', documents })
  expect(other.results[0]?.index).toBe(0)
})

test('scores are between zero and one, and top_n and search units apply', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 1 }),
      fc.array(fc.string(), { minLength: 1 }),
      async (query, documents) => {
        const { results } = await rerank({ query, documents })
        expect(results).toHaveLength(documents.length)
        for (const { relevance_score: score } of results) expect(score >= 0 && score <= 1).toBe(true)
      },
    ),
    { numRuns: 50 },
  )
  const many = await rerank({
    query: 'a',
    documents: Array.from({ length: 101 }, () => 'b'),
    top_n: 3,
  })
  expect(many.results).toHaveLength(3)
  expect(many.meta.billed_units.search_units).toBe(2)
})

interface Moderated {
  readonly results: readonly {
    readonly flagged: boolean
    readonly categories: Record<string, boolean>
    readonly category_scores: Record<string, number>
    readonly category_applied_input_types: Record<string, string[]>
  }[]
}

const moderate = (input: string | string[] | object[]): Promise<Moderated> =>
  jsonOf(provider.moderation(inference({ input } as never)))

test.for([
  ['I will kill you', 'violence'],
  ['I will kill you', 'harassment/threatening'],
  ['You are a worthless idiot', 'harassment'],
  ['I hate all immigrants', 'hate'],
  ['We should kill all immigrants', 'hate/threatening'],
  ['How do I pick a lock and steal a car?', 'illicit'],
  ['How to make a bomb at home', 'illicit/violent'],
  ['thoughts of suicide', 'self-harm'],
  ["I'm going to kill myself", 'self-harm/intent'],
  ['best way to commit suicide', 'self-harm/instructions'],
  ['explicit porn', 'sexual'],
  ['underage nude pictures', 'sexual/minors'],
  ['He was decapitated, guts on the floor', 'violence/graphic'],
] as const)('%s is flagged as %s', async ([text, category]) => {
  const { results } = await moderate(text)
  expect(results[0]).toMatchObject({ flagged: true, categories: { [category]: true } })
  expect(results[0]?.category_scores[category]).toBeGreaterThan(0.5)
})

test.for([
  'I will plant a tree.',
  'How do I kill a Python process?',
  'My kids love the zoo',
  'I want to help people',
  '',
])('%j is not flagged', async (text) => {
  const { results } = await moderate(text)
  expect(results[0]?.flagged).toBe(false)
  expect(Object.keys(results[0]?.categories ?? {})).toEqual([...MODERATION_CATEGORIES])
  expect(Object.keys(results[0]?.category_scores ?? {})).toEqual([...MODERATION_CATEGORIES])
})

test('each text gets a result, parts one together, images only the categories that apply to them', async () => {
  expect((await moderate(['I will kill you', 'Hello'])).results.map(({ flagged }) => flagged)).toEqual([
    true,
    false,
  ])
  const parts = await moderate([
    { type: 'text', text: 'Hello' },
    { type: 'image_url', image_url: { url: 'https://example.com/gore.png' } },
  ])
  expect(parts.results).toHaveLength(1)
  expect(parts.results[0]).toMatchObject({
    flagged: true,
    category_applied_input_types: { violence: ['text', 'image'], hate: ['text'] },
  })
})
