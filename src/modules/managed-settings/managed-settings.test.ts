import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checksumOf } from './checksum-of.ts'
import { checkSettings } from './check-settings.ts'
import { mergeSettings } from './merge-settings.ts'

describe('settings over others', () => {
  test('change what they name, member by member', () => {
    const base = { model: 'opus', env: { A: '1', B: '2' }, permissions: { allow: ['Read'] } }
    const over = { model: 'sonnet', env: { B: '3', C: '4' }, hooks: {} }
    expect(mergeSettings(base, over)).toEqual({
      model: 'sonnet',
      env: { A: '1', B: '3', C: '4' },
      permissions: { allow: ['Read'] },
      hooks: {},
    })
  })

  test('replace a list of what is allowed, and add to a list of what is not', () => {
    const base = {
      permissions: { allow: ['Read'], deny: ['WebFetch', 'Bash(rm:*)'] },
      disabledMcpjsonServers: [],
    }
    const over = { permissions: { allow: [], deny: ['Bash(rm:*)', 'Write'] }, disabledMcpjsonServers: ['x'] }
    expect(mergeSettings(base, over)).toEqual({
      permissions: { allow: [], deny: ['WebFetch', 'Bash(rm:*)', 'Write'] },
      disabledMcpjsonServers: ['x'],
    })
  })

  test('win over a value of another kind', () => {
    expect(mergeSettings({ deny: ['a'], env: { A: '1' } }, { deny: null, env: 'none' })).toEqual({
      deny: null,
      env: 'none',
    })
  })
})

describe('the checksum', () => {
  test('is that of the JSON with sorted names, as Claude Code computes it', () => {
    const settings = { b: [{ d: 1, c: 'é' }], a: { '10': true, '9': null } }
    // Names that are whole numbers come first in JavaScript, in numerical order.
    expect(checksumOf(settings)).toBe(
      `sha256:${hash('sha256', '{"a":{"9":null,"10":true},"b":[{"c":"é","d":1}]}')}`,
    )
    expect(checksumOf({ a: 1, b: 2 })).toBe(checksumOf({ b: 2, a: 1 }))
    expect(checksumOf({ a: [1, 2] })).not.toBe(checksumOf({ a: [2, 1] }))
  })
})

describe('settings are refused', () => {
  const deep = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { x: deep(levels - 1) })
  test.each([
    ['with more than 32 KiB', { text: 'x'.repeat(32 * 1024) }],
    ['if they are nested too deep', deep(17)],
    ['with a member that changes objects', { env: JSON.parse('{"__proto__":{"a":1}}') }],
  ])('%s', (_name, settings) => {
    expect(() => checkSettings(settings)).toThrow(/settings may/)
  })

  test('and not otherwise', () => {
    expect(() => checkSettings(deep(16))).not.toThrow()
  })
})
