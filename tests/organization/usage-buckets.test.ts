import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  DAY_SECONDS,
  END_SECONDS,
  START_SECONDS,
  sorted,
  startChargedAccount,
  sumBy,
  type Charged,
  type ChargedAccount,
  type Result,
} from './charged-account.ts'

let account: ChargedAccount

beforeAll(async () => {
  account = await startChargedAccount()
}, 120_000)
afterAll(() => account.close())

describe('usage', () => {
  test.each<[string, string, (charge: Charged) => boolean]>([
    ['embeddings', 'num_model_requests', ({ operation }) => operation === 'embedding'],
    [
      'completions',
      'num_model_requests',
      ({ operation }) => operation === 'chat' || operation === 'responses',
    ],
    ['images', 'images', ({ operation }) => operation === 'image'],
    ['audio_speeches', 'characters', ({ operation }) => operation === 'tts'],
    ['audio_transcriptions', 'seconds', ({ operation }) => operation === 'stt'],
    ['moderations', 'input_tokens', () => false],
  ])('of %s counts %s by day, project and model', async (path, member, isWanted) => {
    const at = `/v1/organization/usage/${path}`
    const results = await account.readAll(at, '&limit=31&group_by[]=project_id&group_by[]=model')
    const told = new Map(
      results.map((result) => [
        JSON.stringify([result.at, result['project_id'], result['model']]),
        BigInt(Number(result[member])),
      ]),
    )
    const units = member === 'num_model_requests' ? () => 1n : (charge: Charged) => BigInt(charge.units)
    expect(sorted(told)).toEqual(
      sorted(sumBy(account.charges.filter(isWanted), ({ project_id, model }) => [project_id, model], units)),
    )
  })

  test('has the tokens of text, told apart by caches', async () => {
    const [result] = await account.readAll('/v1/organization/usage/completions', '&limit=31&group_by=batch')
    const requests = Number(result?.['num_model_requests'])
    expect(result).toMatchObject({
      object: 'organization.usage.completions.result',
      input_tokens: 10 * requests,
      input_cached_tokens: 3 * requests,
      input_cache_write_tokens: 2 * requests,
      input_uncached_tokens: 5 * requests,
      output_tokens: 5 * requests,
      batch: false,
      project_id: null,
    })
    expect(await account.readAll('/v1/organization/usage/completions', '&limit=31&batch=true')).toEqual([])
  })

  test('is the same by minute, by hour and by day', async () => {
    const [first] = account.charges.filter(({ operation }) => operation === 'chat')
    const day = (first?.second ?? 0) - ((first?.second ?? 0) % DAY_SECONDS)
    const count = async (width: string, limit: number) => {
      const { body } = await account.gateway.request(
        'GET',
        `/v1/organization/usage/completions?start_time=${day}&end_time=${day + DAY_SECONDS}&bucket_width=${width}&limit=${limit}`,
      )
      expect([body.data.length, body.has_more]).toEqual([limit, false])
      return body.data
        .flatMap(({ results }: { results: Result[] }) => results)
        .reduce((sum: number, result: Result) => sum + Number(result['num_model_requests']), 0)
    }
    const expected = account.charges.filter(
      ({ operation, second }) =>
        (operation === 'chat' || operation === 'responses') && second >= day && second < day + DAY_SECONDS,
    ).length
    expect([await count('1d', 1), await count('1h', 24), await count('1m', 1_440)]).toEqual([
      expected,
      expected,
      expected,
    ])
  })

  test('is told apart by source for images, and sizes are refused', async () => {
    const at = '/v1/organization/usage/images'
    const results = await account.readAll(at, '&limit=31&group_by=source')
    expect(new Set(results.map(({ source }) => source))).toEqual(new Set(['image.generation']))
    expect(await account.readAll(at, '&limit=31&sources[]=image.edit')).toEqual([])
    const refused = await account.gateway.request('GET', `${at}?start_time=1&sizes[]=256x256`)
    expect(refused.status).toBe(400)
  })

  test('is read by the official package', async () => {
    const client = new OpenAI({
      apiKey: account.gateway.key,
      adminAPIKey: account.gateway.key,
      baseURL: `${account.gateway.baseUrl}/v1`,
    })
    const range = { start_time: START_SECONDS, end_time: END_SECONDS }
    const { usage } = client.admin.organization
    const costs = await usage.costs({ ...range, group_by: ['project_id', 'line_item'], limit: 40 })
    const values = costs.data
      .flatMap(({ results }) => results)
      .map((result) => ('amount' in result ? (result.amount?.value ?? 0) : 0))
    const sum = account.charges.reduce((total, { costNanoUsd }) => total + costNanoUsd, 0n)
    expect(values.reduce((total, value) => total + value, 0)).toBeCloseTo(Number(sum) / 1e9, 9)
    const completions = await usage.completions({ ...range, group_by: ['model'], models: ['m-1'], limit: 31 })
    expect(completions.has_more).toBe(true)
    for (const read of [
      usage.embeddings({ ...range, group_by: ['user_id'] }),
      usage.moderations(range),
      usage.images({ ...range, group_by: ['source', 'size'] }),
      usage.audioSpeeches(range),
      usage.audioTranscriptions(range),
    ])
      expect((await read).object).toBe('page')
  })
})
