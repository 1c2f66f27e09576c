import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { describeImage } from '../packaging/image/describe-image.ts'
import { listContext } from '../packaging/image/list-context.ts'
import { digestLayer } from '../packaging/image/pack-layer.ts'
import { readDockerfile } from '../packaging/image/read-dockerfile.ts'

const ROOT = resolve(import.meta.dirname, '..')

test('every instruction of the Dockerfile is understood, and an unknown one is refused', () => {
  const stages = readDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
  expect(stages.map(({ name }) => name)).toEqual(['console', 'packages', null])
  const last = stages.at(-1)?.instructions ?? []
  expect(last.find(({ name }) => name === 'USER')?.text).toBe('10001')
  expect(last.filter(({ name }) => name === 'RUN').every(({ text }) => !/npm|apt|curl/.test(text))).toBe(true)
  expect(() => readDockerfile('FROM a\nADD https://example.com/x /x')).toThrow('line 2: ADD')
  expect(readDockerfile('FROM a\nRUN one \\\n  && two').at(0)?.instructions[0]?.text).toMatch(/^one +&& two$/)
})

test('what a build may copy has neither tests nor settings of a machine', () => {
  const files = listContext(ROOT)
  expect(files).toEqual(expect.arrayContaining(['package-lock.json', 'src/app/main.ts', 'bin/parkway.cjs']))
  expect(
    files.filter((file) => /\.test\.ts$|\/testing\/|^tests\/|^\.git|node_modules|\.env/.test(file)),
  ).toEqual([])
})

test('a layer has one digest, whenever and by whom its files are written, and another for other files', async () => {
  const write = (content: string, mode: number): string => {
    const folder = mkdtempSync(join(tmpdir(), 'parkway-layer-'))
    mkdirSync(join(folder, 'app'))
    for (const name of mode === 0o600 ? ['b', 'a'] : ['a', 'b']) {
      writeFileSync(join(folder, 'app', name), content)
      chmodSync(join(folder, 'app', name), mode)
      utimesSync(join(folder, 'app', name), mode, mode)
    }
    symlinkSync('a', join(folder, 'app/link'))
    return folder
  }
  const folders = [write('one', 0o600), write('one', 0o664), write('two', 0o664)]
  try {
    const [first, second, other] = await Promise.all(
      folders.map((folder) => digestLayer(folder, 1_700_000_000)),
    )
    expect(first).toMatchObject({ files: 2, bytes: 6 })
    expect(second?.sha256).toBe(first?.sha256)
    expect(other?.sha256).not.toBe(first?.sha256)
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true })
  }
})

test('the documents of an image name its packages and its source, and are the same each time', () => {
  const source = { commit: 'c'.repeat(40), timeSeconds: 1_700_000_000 }
  const { bill, provenance } = describeImage(source, 'd'.repeat(64))
  expect(describeImage(source, 'd'.repeat(64))).toEqual({ bill, provenance })
  const document = JSON.parse(bill) as { bomFormat: string; components: { name: string }[] }
  expect(document.bomFormat).toBe('CycloneDX')
  const names = document.components.map(({ name }) => name)
  expect(names).toContain('fastify')
  expect(names).not.toContain('vitest')
  const statement = JSON.parse(provenance) as {
    subject: { digest: { sha256: string } }[]
    predicate: {
      buildDefinition: { resolvedDependencies: { uri: string; digest: Record<string, string> }[] }
    }
  }
  expect(statement.subject[0]?.digest.sha256).toBe('d'.repeat(64))
  const { resolvedDependencies } = statement.predicate.buildDefinition
  expect(resolvedDependencies[0]?.digest['gitCommit']).toBe(source.commit)
  expect(
    resolvedDependencies.find(({ uri }) => uri.startsWith('pkg:npm/fastify@'))?.digest['sha512'],
  ).toMatch(/^[0-9a-f]{128}$/)
  // Nothing of the machine that wrote them.
  expect(bill + provenance).not.toContain(ROOT)
})
