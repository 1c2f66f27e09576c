import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSecretReferences } from './secret-references.ts'

let root: string
let directory: string
const variables = new Map<string, string>()
const open = () =>
  createSecretReferences({
    readVariable: (name) => (name === 'OWN_SETTING' ? null : { value: variables.get(name) }),
    directories: [directory],
  })
const at = (name: string) => `file:${join(directory, name)}`
const write = (name: string, text: string | Buffer) => writeFileSync(join(directory, name), text)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parkway-secrets-'))
  directory = join(root, 'secrets')
  mkdirSync(directory)
  variables.clear()
})
afterEach(() => rmSync(root, { recursive: true }))

describe('a file', () => {
  test('is read without the line break at its end, and again when it changes', () => {
    const references = open()
    write('key', 'sk-first\n')
    expect(references.read(at('key'))).toEqual({ secret: 'sk-first', problem: null })
    expect(references.refresh()).toBe(false)
    write('next', 'sk-second')
    renameSync(join(directory, 'next'), join(directory, 'key'))
    expect([
      references.read(at('key')).secret,
      references.refresh(),
      references.read(at('key')).secret,
    ]).toEqual(['sk-first', true, 'sk-second'])
  })

  test('is read once it is there, and its secret is gone with it', () => {
    const references = open()
    expect(references.read(at('key')).problem).toBe('there is no such file')
    write('key', 'sk-late')
    expect([references.refresh(), references.read(at('key')).secret]).toEqual([true, 'sk-late'])
    rmSync(join(directory, 'key'))
    expect([references.refresh(), references.read(at('key')).secret]).toEqual([true, null])
  })

  test('may be a link within its directory, as that of a mounted secret is', () => {
    mkdirSync(join(directory, '..data'))
    write('..data/key', 'sk-mounted')
    symlinkSync('..data/key', join(directory, 'key'))
    expect(open().read(at('key')).secret).toBe('sk-mounted')
  })

  test.each([
    ['a directory', () => mkdirSync(join(directory, 'key')), 'it is not a plain file'],
    ['a device', () => symlinkSync('/dev/zero', join(directory, 'key')), 'it is a link to somewhere else'],
    [
      'a pipe that nobody writes',
      () => execFileSync('mkfifo', [join(directory, 'key')]),
      'it is not a plain file',
    ],
    [
      'a link out of the directory',
      () => {
        writeFileSync(join(root, 'outside'), 'sk-outside')
        symlinkSync('../outside', join(directory, 'key'))
      },
      'it is a link to somewhere else',
    ],
    ['an endless one', () => write('key', 'x'.repeat(20_000)), 'it is larger than 16384 bytes'],
    ['an empty one', () => write('key', '\n'), 'it is empty'],
    [
      'a second header',
      () => write('key', 'sk-a\r\nhost: other'),
      'it is not one line of printable characters',
    ],
    [
      'bytes',
      () => write('key', Buffer.from([0xff, 0xfe, 0x00])),
      'it is not one line of printable characters',
    ],
  ])('that is %s is refused', (_, prepare, problem) => {
    prepare()
    expect(open().read(at('key'))).toEqual({ secret: null, problem })
  })
})

test('a variable is read, and told if it is not set', () => {
  variables.set('VENDOR_KEY', 'sk-variable')
  const references = open()
  expect(references.read('env:VENDOR_KEY').secret).toBe('sk-variable')
  expect(references.read('env:NOT_SET').problem).toBe('the variable is not set')
  expect(references.findProblem('env:OWN_SETTING')).toContain('setting of the gateway')
})

test.each(['sk-plain', 'env:', 'env:A B', 'file:relative', 'file:/etc/passwd', 'vault:x', 'file:/a\0b'])(
  'the reference %j is refused',
  (reference) => {
    expect(open().findProblem(reference)).not.toBe(null)
    expect(open().read(reference).secret).toBe(null)
  },
)

test('a path that leaves the directory is refused', () => {
  expect(open().findProblem(`${at('x')}/../../outside`)).not.toBe(null)
  expect(open().findProblem(`file:${directory}-of-another/key`)).not.toBe(null)
})
