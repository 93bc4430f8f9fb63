// Stores small texts between visits, in IndexedDB. Where there is none, as in Node or in a
// private window, they last as long as the page.

/**
 * @typedef {object} Kept
 * @property {(key: string) => string | undefined} kept
 * @property {(key: string, text: string | null) => boolean} keep null forgets; returns
 *   whether the text outlives the page
 */

(() => {
  "use strict";

  // Pages end what a program asked of these; what the driver asks goes on.
  const { setTimeout } = globalThis;

  const DATABASE = "tensorweb";
  const STORE = "kept";
  const PATIENCE_MS = 500; // another page may hold the database; a device comes first
  const MOST_TEXTS = 1000;
  const LONGEST = 1_000_000;

  /** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
  function settled(request) {
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  /** @template T @param {Promise<T>} work @returns {Promise<T | undefined>} */
  function inTime(work) {
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    return Promise.race([work, late.then(() => undefined)]);
  }

  /**
   * Any program on this origin can write the database, so one that is not as ours should
   * be is made anew.
   * @returns {Promise<IDBDatabase | undefined>}
   */
  async function openDatabase(isFirst = true) {
    if (!globalThis.indexedDB) return undefined;
    try {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      const database = await inTime(settled(request));
      if (!database || database.objectStoreNames.contains(STORE)) return database;
      database.close();
    } catch {
      // A newer version, or none that can be opened.
    }
    if (!isFirst) return undefined;
    try {
      await inTime(settled(indexedDB.deleteDatabase(DATABASE)));
    } catch {
      return undefined;
    }
    return openDatabase(false);
  }

  /** @param {IDBDatabase} database @param {Map<string, string>} texts */
  async function readAll(database, texts) {
    const store = database.transaction(STORE, "readwrite").objectStore(STORE);
    if ((await settled(store.count())) > MOST_TEXTS) {
      store.clear();
      return;
    }
    for (const key of await settled(store.getAllKeys())) {
      const text = await settled(store.get(key));
      if (typeof text === "string" && text.length <= LONGEST) texts.set(String(key), text);
      else store.delete(key);
    }
  }

  /** Reads everything that was kept. @returns {Promise<Kept>} */
  return async function openKept() {
    /** @type {Map<string, string>} */
    const texts = new Map();
    const database = await openDatabase();
    if (database) {
      database.onversionchange = () => database.close();
      // What cannot be read is measured again when somebody asks for it.
      await inTime(readAll(database, texts)).catch(() => undefined);
    }
    return {
      kept: (key) => texts.get(key),
      keep(key, text) {
        if (text === null || text === undefined) texts.delete(key);
        else texts.set(key, text);
        if (!database) return false;
        try {
          const store = database.transaction(STORE, "readwrite").objectStore(STORE);
          if (texts.has(key)) store.put(text, key);
          else store.delete(key);
        } catch {
          return false; // another page has made the database anew
        }
        return true;
      },
    };
  };
})();
