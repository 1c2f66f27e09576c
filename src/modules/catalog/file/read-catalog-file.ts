import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { CatalogInvalid } from './load-catalog.ts'

const require = createRequire(import.meta.url)

const FILE_BYTES_MAX = 16 * 1024 * 1024

/** Reads an operator's catalog file. JSON is a subset of YAML, so one parser reads both. */
export function readCatalogFile(file: string): { file: string; document: unknown } {
  let text: string
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`is larger than ${FILE_BYTES_MAX} bytes`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CatalogInvalid([`${file}: cannot be read: ${describe(error)}`])
  }
  try {
    // Loaded here, because few gateways have such a file.
    const { parse }: typeof Yaml = require('yaml')
    // An empty file overrides nothing.
    return { file, document: parse(text) ?? {} }
  } catch (error) {
    throw new CatalogInvalid([`${file}: is neither JSON nor YAML: ${describe(error)}`])
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
