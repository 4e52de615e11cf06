// Tests whether a changed catalog keeps everything that a program of the former one can name. The queries of
// that program then return correct results over the changed data. Pure.
import { printType } from '../../base/schema.js';
import type { CatalogField, CatalogLabel, StoredCatalog } from '../catalog/catalog-record.js';

export function isAdditive(former: StoredCatalog, next: StoredCatalog): boolean {
  const labels = new Map(next.labels.map((label) => [label.id, label]));
  return former.labels.every((label) => {
    const now = labels.get(label.id);
    return !label.isDeclared || (now !== undefined && isUnchanged(label, now));
  });
}

function isUnchanged(former: CatalogLabel, now: CatalogLabel): boolean {
  const isSame =
    now.isDeclared &&
    now.name === former.name &&
    now.kind === former.kind &&
    now.from === former.from &&
    now.to === former.to;
  return isSame && former.fields.every((field) => isFieldUnchanged(field, now));
}

/** A hidden property must stay hidden, because the former program would find its texts. */
function isFieldUnchanged(former: CatalogField, { fields }: CatalogLabel): boolean {
  const now = fields.find(({ slot }) => slot === former.slot);
  if (!former.isDeclared) return now === undefined || !now.isDeclared;
  return (
    now?.isDeclared === true &&
    now.name === former.name &&
    printType(now.type) === printType(former.type) &&
    JSON.stringify(now.search) === JSON.stringify(former.search) &&
    (former.indexId === 0 || now.indexId === former.indexId)
  );
}
