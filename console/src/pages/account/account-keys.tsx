import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { accountKeyActions, accountKeysQuery } from '../../api/accounts.ts'
import { keyColumns } from '../../keys/key-columns.tsx'
import { KeySheet } from '../../keys/key-sheet.tsx'
import { NewKeyDialog } from '../../keys/new-key-dialog.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'

/** The keys of an account. An operator makes, changes and revokes them, as the account itself can. */
export function AccountKeys({ id }: { readonly id: string }) {
  const keys = useInfiniteQuery(accountKeysQuery(id))
  const actions = accountKeyActions(id)
  const [isMaking, setIsMaking] = useState(false)
  const [openedId, setOpenedId] = useState<string | null>(null)
  const opened = keys.data?.pages.flatMap(({ data }) => data).find((key) => key.id === openedId)
  const newKey = (
    <Permitted permission="gateway.manage">
      <Button icon="plus" onClick={() => setIsMaking(true)}>
        New key
      </Button>
    </Permitted>
  )
  const isEmpty = keys.data?.pages[0]?.data.length === 0
  return (
    <div className="flex flex-col gap-3">
      {!isEmpty && <div className="flex justify-end">{newKey}</div>}
      <PagedTable
        label="Keys"
        tools={{ id: 'keys' }}
        query={keys}
        columns={keyColumns((key) => setOpenedId(key.id))}
        rowId={(key) => key.id}
        onOpen={(key) => setOpenedId(key.id)}
        empty={
          <EmptyState icon="key" title="The account has no key" action={newKey}>
            Make one and pass it on: it is shown once.
          </EmptyState>
        }
      />
      {isMaking && <NewKeyDialog actions={actions} onClose={() => setIsMaking(false)} />}
      {opened && <KeySheet apiKey={opened} actions={actions} onClose={() => setOpenedId(null)} />}
    </div>
  )
}
