import type { Schemas } from '../../api/gateway-client.ts'
import { readYamlObject } from '../../files/read-yaml-object.ts'

/** Reads a document of `config export`, in YAML or JSON. The gateway checks what is in it. */
export async function readDocument(path: string): Promise<Schemas['ConfigDocument']> {
  return (await readYamlObject(path)) as Schemas['ConfigDocument']
}
