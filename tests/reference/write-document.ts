import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestGateway } from '../support/start-test-gateway.ts'

const MODULES = join(import.meta.dirname, '../../node_modules')

/** Writes the document to a directory from which the packages of the project can be imported. */
export async function writeDocument(gateway: TestGateway, directory: string): Promise<string> {
  const { body } = await gateway.request('GET', '/openapi.json', { key: null })
  const path = join(directory, 'openapi.json')
  await writeFile(path, JSON.stringify(body))
  await symlink(MODULES, join(directory, 'node_modules'))
  return path
}
