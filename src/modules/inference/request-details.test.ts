import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createInferenceRecord, type AttemptRecord } from './inference-record.ts'
import { packDetails, unpackDetails } from './request-details.ts'

const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).map((text) => text.toWellFormed())
const attempt: fc.Arbitrary<AttemptRecord> = fc.record({
  provider: fc.constantFrom('one', 'other'),
  upstreamModel: name,
  previousProvider: fc.constant(null),
  outcome: fc.constantFrom('answered', 'aborted', 'timeout', 'status'),
  status: fc.option(fc.integer({ min: 400, max: 599 })),
  startedMs: fc.integer({ min: 0, max: 100_000 }),
  durationMs: fc.integer({ min: 0, max: 100_000 }),
  upstreamCode: fc.option(name, { nil: undefined }),
  upstreamMessage: fc.option(name, { nil: undefined }),
})

const isPlain = (outcome: string, status: number | null) => outcome === 'answered' && status === null

test('what was packed is read again, whatever names contain', () => {
  fc.assert(
    fc.property(
      fc.record({
        requestedModel: fc.option(fc.oneof(name, fc.constantFrom('m', '-', 'a/b:c'))),
        user: fc.option(name),
        clientRequestId: fc.option(name),
        isStream: fc.boolean(),
        isBatch: fc.boolean(),
        errorCode: fc.constantFrom(null, 'timeout'),
        attempts: fc.array(attempt, { maxLength: 6 }),
      }),
      ({ requestedModel, user, clientRequestId, isStream, isBatch, errorCode, attempts }) => {
        const record = createInferenceRecord('chat')
        Object.assign(record, { requestedModel, clientRequestId, errorCode, model: 'm', provider: 'one' })
        record.asked = { user, stream: isStream }
        if (isBatch) record.isBatch = true
        record.attempts.push(...attempts)
        expect(unpackDetails(packDetails(record), { model: 'm', provider: 'one' })).toEqual({
          isStream,
          isBatch: isBatch && !isStream,
          errorCode,
          requestedModel,
          endUser: user,
          clientRequestId,
          attempts: attempts.map(
            ({ provider, upstreamModel: model, startedMs, durationMs, outcome, status, ...said }) => ({
              provider,
              model,
              startedMs,
              durationMs,
              outcome,
              status,
              // An answer says nothing.
              upstreamCode: (isPlain(outcome, status) ? null : said.upstreamCode) ?? null,
              upstreamMessage: (isPlain(outcome, status) ? null : said.upstreamMessage) ?? null,
            }),
          ),
        })
      },
    ),
  )
})

test('an answer of the first upstream needs few bytes', () => {
  const record = createInferenceRecord('chat')
  Object.assign(record, { requestedModel: 'm', model: 'm', provider: 'one' })
  record.attempts.push({
    provider: 'one',
    upstreamModel: 'm',
    previousProvider: null,
    outcome: 'answered',
    status: null,
    startedMs: 0.4,
    durationMs: 250.6,
  })
  expect(packDetails(record)).toBe('1;;;;;++0+251')
})

test.each([
  ['safety_identifier', { safety_identifier: 'a', user: 'b' }, 'a'],
  ['user', { user: 'b' }, 'b'],
  ['metadata', { metadata: { user_id: 'c' } }, 'c'],
  ['a long name', { user: 'x'.repeat(500) }, 'x'.repeat(128)],
  ['no text', { user: 7, metadata: ['user_id'] }, null],
])('the end user is read from %s', (_, asked, endUser) => {
  const record = createInferenceRecord('chat')
  record.asked = asked
  expect(unpackDetails(packDetails(record), { model: '', provider: '' })).toMatchObject({ endUser })
})

test.each([null, '', '2;s;;;;', 'nonsense'])('%j is not read', (text) => {
  expect(unpackDetails(text, { model: 'm', provider: 'p' })).toBeNull()
})
