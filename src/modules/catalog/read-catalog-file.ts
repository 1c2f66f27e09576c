import { readFileSync, statSync } from 'node:fs'
import { parse } from 'yaml'
import { CatalogInvalid } from './load-catalog.ts'

const FILE_BYTES_MAX = 16 * 1024 * 1024

/** Reads an operator's catalog file. JSON is YAML too, so one parser reads both. */
export function readCatalogFile(file: string): { file: string; document: unknown } {
  let text: string
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`is larger than ${FILE_BYTES_MAX} bytes`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CatalogInvalid([`${file}: cannot be read: ${describe(error)}`])
  }
  try {
    // An empty file overrides nothing.
    return { file, document: parse(text) ?? {} }
  } catch (error) {
    throw new CatalogInvalid([`${file}: is neither JSON nor YAML: ${describe(error)}`])
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
