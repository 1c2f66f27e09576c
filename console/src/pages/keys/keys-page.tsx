import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { accountQuery } from '../../api/account.ts'
import { keysQuery, OWN_KEYS, type ApiKey } from '../../api/keys.ts'
import { OwnDeprecations } from '../../deprecations/own-deprecations.tsx'
import { keyColumns } from '../../keys/key-columns.tsx'
import { KeySheet } from '../../keys/key-sheet.tsx'
import { NewKeyDialog } from '../../keys/new-key-dialog.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import type { KeysSearch } from './route.ts'

const route = getRouteApi('/shell/keys')

export function KeysPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: account } = useQuery(accountQuery)
  const keys = useInfiniteQuery(keysQuery())
  const [isMaking, setIsMaking] = useState(false)
  const all = keys.data?.pages.flatMap(({ data }) => data) ?? []
  const shown = all.filter((key) => isShown(key, search))
  const opened = all.find(({ id }) => id === search.key)
  const change = (next: Partial<KeysSearch>): void =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  const open = ({ id }: ApiKey): void =>
    void navigate({ search: (old) => ({ ...old, key: id }), ...AS_DETAIL })
  const close = useCloseDetail(() => change({ key: undefined }))
  const newKey = account?.session?.permissions.includes('keys.own') && (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New key
    </Button>
  )
  return (
    <Page>
      <PageHeader
        title="Keys"
        description="A key lets a program use this account. Give each program its own, with no more rights than it needs."
        actions={newKey}
      />
      <OwnDeprecations />
      <FilterBar
        count={keys.data && `${shown.length} of ${formatCountOf(keys.data.pages[0]?.total ?? 0, 'key')}`}
        {...((search.search || search.all) && {
          onClear: () => change({ search: undefined, all: undefined }),
        })}
      >
        <SearchField
          label="Name or beginning of the key"
          className="w-64 max-sm:w-full"
          value={search.search ?? ''}
          onChange={(words) => change({ search: words === '' ? undefined : words })}
        />
        <SelectField
          label="State"
          isLabelHidden
          value={search.all ? 'all' : 'active'}
          choices={[
            { value: 'active', label: 'Active keys' },
            { value: 'all', label: 'All keys' },
          ]}
          onChange={(state) => change({ all: state === 'all' ? true : undefined })}
        />
      </FilterBar>
      <PagedTable
        label="Keys"
        tools={{ id: 'keys' }}
        query={keys}
        columns={keyColumns(open)}
        rowId={({ id }) => id}
        onOpen={open}
        isShown={(key) => isShown(key, search)}
        empty={
          <EmptyState icon="key" title="No key matches" action={newKey}>
            {newKey ? 'Change the filters, or make a key.' : 'Change the filters.'}
          </EmptyState>
        }
      />
      {isMaking && <NewKeyDialog actions={OWN_KEYS} onClose={() => setIsMaking(false)} />}
      {opened && <KeySheet apiKey={opened} actions={OWN_KEYS} onClose={close} />}
      {search.key !== undefined && !opened && keys.isSuccess && !keys.hasNextPage && (
        <Sheet title="Key" isOpen onClose={close} side="right">
          <p className="text-sm text-ink-soft">This account has no such key.</p>
        </Sheet>
      )}
    </Page>
  )
}

function isShown(key: ApiKey, { search, all }: KeysSearch): boolean {
  if (!key.is_active && !all) return false
  const words = (search ?? '').trim().toLowerCase()
  return key.name.toLowerCase().includes(words) || key.key_prefix.toLowerCase().startsWith(words)
}
