import { randomBytes } from 'node:crypto'
import { assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { readAddress, signAddress } from './media-address.ts'
import { findFormat, formatOfId, markId } from './media-format.ts'

const secret = randomBytes(32)
const png = findFormat('image', 'png') ?? expect.unreachable()
const id = markId(createId(), png)
const expiresAtMs = 1_800_000_000_000
const token = signAddress(secret, { id, expiresAtMs })

it('a signed id is read back, and the address ends in the extension of the file', () => {
  expect(readAddress(secret, token)).toEqual({ id, expiresAtMs })
  expect(token).toMatch(/^[A-Za-z0-9_-]{70}\.png$/)
  expect(formatOfId(id)).toBe(png)
})

it('a change of any character is detected', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
  assert(
    property(
      integer({ min: 0, max: token.length - 1 }),
      integer({ min: 0, max: alphabet.length - 1 }),
      (at, letter) => {
        const changed = token.slice(0, at) + alphabet.charAt(letter) + token.slice(at + 1)
        if (changed !== token) expect(readAddress(secret, changed)).toBeNull()
      },
    ),
    { numRuns: 500 },
  )
})

it.each([
  '',
  'x',
  token.slice(0, -4),
  `${token}g`,
  token.replace('.png', '.html'),
  `${token}.png`,
  ` ${token}`,
])('%j is not an address', (text) => {
  expect(readAddress(secret, text)).toBeNull()
})

it('another secret gives another signature', () => {
  expect(readAddress(randomBytes(32), token)).toBeNull()
})

it('the id of another file does not match the signature', () => {
  const other = signAddress(secret, { id: markId(createId(), png), expiresAtMs })
  expect(readAddress(secret, other.slice(0, 27) + token.slice(27))).toBeNull()
})
