// Keeps small texts between visits, in IndexedDB. Where there is none, as in Node or in a
// private window, they are kept as long as the page.

/**
 * @typedef {object} Kept
 * @property {(key: string) => string | undefined} kept
 * @property {(key: string, text: string | null) => boolean} keep null forgets; returns
 *   whether the text outlives the page
 */

(() => {
  "use strict";

  const DATABASE = "tensorweb";
  const STORE = "kept";
  const PATIENCE_MS = 500; // another page may hold the database; a device comes first

  /** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
  function settled(request) {
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  /** @returns {Promise<IDBDatabase | undefined>} */
  async function openDatabase() {
    if (!globalThis.indexedDB) return undefined;
    try {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
      return await Promise.race([settled(request), late.then(() => undefined)]);
    } catch {
      return undefined;
    }
  }

  /** Reads everything that was kept. @returns {Promise<Kept>} */
  return async function openKept() {
    /** @type {Map<string, string>} */
    const texts = new Map();
    const database = await openDatabase();
    if (database) {
      try {
        const store = database.transaction(STORE).objectStore(STORE);
        const [keys, values] = await Promise.all([
          settled(store.getAllKeys()),
          settled(store.getAll()),
        ]);
        keys.forEach((key, i) => texts.set(String(key), String(values[i])));
      } catch {
        // What cannot be read is measured again when somebody asks for it.
      }
    }
    return {
      kept: (key) => texts.get(key),
      keep(key, text) {
        if (text === null || text === undefined) texts.delete(key);
        else texts.set(key, text);
        if (!database) return false;
        const store = database.transaction(STORE, "readwrite").objectStore(STORE);
        if (texts.has(key)) store.put(text, key);
        else store.delete(key);
        return true;
      },
    };
  };
})();
