/**
 * A CTE that puts written requests into the queue of exports, if anybody gets them. It belongs to the statement that writes them, so that
 * both are committed or neither. `written` is a FROM item with `account_id` and `id`.
 */
export function queueForExport(written: string, { isCharged }: { readonly isCharged: boolean }): string {
  return `queued AS (
    INSERT INTO export_queue (account_id, id, is_charged)
    SELECT account_id, id, ${isCharged} FROM ${written} WHERE EXISTS (SELECT FROM export_sinks)
  )`
}
