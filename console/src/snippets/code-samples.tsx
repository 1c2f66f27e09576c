import { useState } from 'react'
import { Tabs } from '../ui/layout/tabs.tsx'
import { CodeBlock } from '../ui/text/code-block.tsx'
import type { ApiCall } from './api-call.ts'
import { writeCurl } from './write-curl.ts'
import { writePython } from './write-python.ts'
import { writeTypescript } from './write-typescript.ts'

const LANGUAGES = [
  { value: 'curl', label: 'curl', language: 'bash', write: writeCurl },
  { value: 'python', label: 'Python', language: 'python', write: writePython },
  { value: 'typescript', label: 'TypeScript', language: 'typescript', write: writeTypescript },
] as const

type Language = (typeof LANGUAGES)[number]['value']

/** The same call in several languages. */
export function CodeSamples({ call }: { readonly call: ApiCall }) {
  const [chosen, setChosen] = useState<Language>('curl')
  const { language, write, label } = LANGUAGES.find(({ value }) => value === chosen) ?? LANGUAGES[0]
  return (
    <Tabs label="Language" value={chosen} tabs={LANGUAGES} onChange={setChosen}>
      <CodeBlock code={write(call, location.origin)} language={language} label={`The call in ${label}`} />
    </Tabs>
  )
}
