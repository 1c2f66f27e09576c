import { describe, expect, test } from 'vitest'

import { translateMediaPart, UntranslatablePart } from './translate-media-part.ts'
import type { Vendor } from '../vendor.ts'

const vendor: Vendor = {
  key: 'google',
  defaultBaseUrl: '',
  createModel: () => Promise.reject(new Error('not needed here')),
  normalizeMediaType: (mediaType) => mediaType,
  normalizeCallId: (callId) => callId,
  needsJsonInstruction: () => false,
  selectStopSequences: (stopSequences) => [...stopSequences],
  refineOptions: (options) => options,
}

const image = (url: string) => translateMediaPart({ type: 'image_url', image_url: { url } }, vendor)

describe('a media part', () => {
  test('keeps the type and the bytes of a data URI', () => {
    const data = { type: 'data', data: 'AAAA' }
    expect(image('data:image/PNG;charset=x;base64,AAAA')).toMatchObject({ mediaType: 'image/png', data })
    expect(image('data:;base64,AAAA')).toMatchObject({ mediaType: 'image/jpeg', data })
  })

  test('accepts a data URI that is not in base64', () => {
    const base64 = Buffer.from('<svg/>').toString('base64')
    expect(image('data:image/svg+xml,%3Csvg%2F%3E')).toMatchObject({ data: { data: base64 } })
  })

  test.each([
    ['https://example.com/a/cat.PNG?size=1#x', 'image/png'],
    ['https://example.com/cat', 'image/jpeg'],
    ['HTTP://example.com/cat.gif', 'image/gif'],
  ])('leaves the fetching of %s to the vendor and guesses %s', (url, mediaType) => {
    expect(image(url)).toMatchObject({ mediaType, data: { type: 'url', url: new URL(url) } })
  })

  test.each([
    '',
    'cat.png',
    'file:///etc/passwd',
    'http://',
    'data:image/png;base64',
    'data:image/png;base64,',
    'data:,%',
  ])('a media part that is %j is refused', (url) => {
    expect(() => image(url)).toThrow(UntranslatablePart)
  })

  test('may be a file by its bytes, its address or its id, but not an empty one', () => {
    const file = (fields: object) => translateMediaPart({ type: 'file', file: fields }, vendor)
    expect(file({ file_data: 'AAAA', filename: 'a.csv' })).toMatchObject({
      mediaType: 'text/csv',
      filename: 'a.csv',
    })
    expect(file({ file_data: 'https://example.com/a.pdf' })).toMatchObject({ data: { type: 'url' } })
    expect(file({ file_id: 'files/1' })).toMatchObject({
      data: { type: 'reference', reference: { google: 'files/1' } },
    })
    expect(() => file({})).toThrow(UntranslatablePart)
  })
})
