import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeApi } from './describe-api.ts'
import { writeApiTypes } from './write-api-types.ts'

const TARGET = join(import.meta.dirname, 'generated/gateway-api.ts')

/** Writes the types of the API for the type check of the console and of the command line. The file is not in git. */
function generateApiTypes(): void {
  const text = writeApiTypes(describeApi())
  if (readIfPresent() === text) return
  mkdirSync(dirname(TARGET), { recursive: true })
  writeFileSync(TARGET, text)
}

function readIfPresent(): string | null {
  try {
    return readFileSync(TARGET, 'utf8')
  } catch {
    return null
  }
}

generateApiTypes()
