import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../../api/account.ts'
import { createKey } from '../../api/keys.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { showFailure } from '../../ui/overlays/toasts.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CONNECTIONS, type ConnectionId } from './connections.ts'

/** What a program needs, and no more. */
const PROGRAM_KEY = {
  name: 'Made in the console',
  scopes: ['inference' as const],
  allowed_models: null,
  limit_usd: null,
  requests_per_minute: null,
  expires_at: null,
}

/** How to use this gateway from a program, with a key that is made on the spot. */
export function Connect() {
  const { data: account } = useQuery(accountQuery)
  const [chosen, setChosen] = useState<ConnectionId>('curl')
  const env = account?.key.env ?? 'dev'
  const created = useMutation({
    mutationFn: () => createKey({ ...PROGRAM_KEY, env }),
    onError: (error) => showFailure('The key could not be made', error),
  })
  const { write, language, note } = CONNECTIONS.find(({ value }) => value === chosen) ?? CONNECTIONS[0]
  const mayManage = account?.session?.permissions.includes('keys.own') === true
  return (
    <Section
      title="Connect"
      actions={
        mayManage &&
        !created.data && (
          <Button icon="key" isBusy={created.isPending} onClick={() => created.mutate()}>
            Make a key
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        <Tabs label="Program" value={chosen} tabs={CONNECTIONS} onChange={setChosen}>
          <CodeBlock code={write(location.origin, created.data?.key ?? 'YOUR_API_KEY')} language={language} />
        </Tabs>
        <p className="text-xs text-ink-faint">
          {note}{' '}
          {created.data
            ? 'The key is shown only now: copy it before you leave this page.'
            : `Replace YOUR_API_KEY${mayManage ? ', or make a key here' : ''}.`}
        </p>
      </div>
    </Section>
  )
}
