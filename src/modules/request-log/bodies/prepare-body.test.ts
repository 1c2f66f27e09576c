import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSealer } from '../../../kernel/seal-text.ts'
import { assembleStream } from './assemble-stream.ts'
import { CUT_MARK, elideMedia, openBody, prepareBody } from './prepare-body.ts'

const sealer = createSealer('of this test')
const place = 'somewhere'

test('any text is read again as it was, or as its beginning and the mark', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.integer({ min: 1, max: 400 }),
      async (given, bytesMax) => {
        const text = given.toWellFormed()
        const { sealed, isCut } = await prepareBody(text, { sealer, place, bytesMax, isPartial: false })
        const read = await openBody(sealed, { sealer, place })
        expect(isCut).toBe(Buffer.byteLength(text) > bytesMax)
        if (!isCut) expect(read).toBe(text)
        else {
          const kept = read?.slice(0, -CUT_MARK.length) ?? ''
          expect(read?.endsWith(CUT_MARK)).toBe(true)
          expect(text.startsWith(kept)).toBe(true)
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytesMax)
          expect(Buffer.byteLength(kept)).toBeGreaterThan(bytesMax - 4)
        }
        expect(await openBody(sealed, { sealer, place: 'elsewhere' })).toBeNull()
      },
    ),
  )
})

const data = 'aGk/'.repeat(200)

test.each([
  [
    'a data URL',
    `{"url":"data:image/png;base64,${data}=="}`,
    '{"url":"data:image/png;base64,[800 characters of media left out]"}',
  ],
  ['plain Base64', `{"data":"${data}"}`, '{"data":"[800 characters of media left out]"}'],
  [
    'escaped slashes',
    `{"data":"${data.replaceAll('/', '\\/')}"}`,
    '{"data":"[1000 characters of media left out]"}',
  ],
  ['Base64 whose end is missing', `{"data":"${data}`, '{"data":"[800 characters of media left out]'],
  ['short Base64', '{"data":"aGk="}', '{"data":"aGk="}'],
  ['prose', `{"text":"${'a word '.repeat(200)}"}`, `{"text":"${'a word '.repeat(200)}"}`],
])('%s', async (_, text, elided) => {
  expect(await elideMedia(text)).toBe(elided)
})

test.each([
  [
    'chat',
    'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"index":1,"delta":{"content":"x"}}]}\n\ndata: {"choices":[{"index":0,"delta":{"content":"b"}}]}\n\ndata: [DONE]\n\n',
    'ab',
  ],
  ['completions', 'data: {"choices":[{"index":0,"text":"a"}]}\n\ndata: {"choices":[{"text":"b"}]}\n\n', 'ab'],
  [
    'messages',
    'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}\n\n',
    'a',
  ],
  [
    'responses',
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n',
    'a',
  ],
  [
    'a cut stream',
    ': keep-alive\n\ndata: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"del…[cut]',
    'a',
  ],
  ['no stream', '{"choices":[]}', null],
])('the text of %s', (_, body, text) => {
  expect(assembleStream(body)).toBe(text)
})
