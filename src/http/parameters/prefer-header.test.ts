import { describe, expect, test } from 'vitest'
import { parsePrefer } from './prefer-header.ts'

describe('the Prefer header', () => {
  test.each([
    [undefined, false, null],
    ['', false, null],
    ['respond-async', true, null],
    ['Respond-Async, wait=10', true, 10],
    ['wait=10', false, 10],
    ['wait="5"; foo=bar', false, 5],
    ['wait=0', false, 0],
    ['wait=3600', false, 60],
    ['wait=-1, wait=soon', false, null],
    [['respond-async', 'wait=2'], true, 2],
  ])('%j', (header, isAsyncWanted, waitSeconds) => {
    expect(parsePrefer(header)).toEqual({ isAsyncWanted, waitSeconds })
  })
})
