/* Finds a Python and opens its library for everybody in the process, unless one runs already. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"

enum { MOST = 4096 }; /* of paths */
static const char *const NONE =
    "no Python was found in this process, in PYTHONHOME or on the path: install Python 3 with its shared library, name an interpreter in the archive's "
    "resources/python.txt, or take an archive of the back end 'native'";

#ifdef _WIN32
#include <windows.h>

static wchar_t *wide(const char *text, wchar_t *out) { return MultiByteToWideChar(CP_UTF8, 0, text, -1, out, MOST) ? out : NULL; }

void *open_library(const char *path) {
    wchar_t name[MOST];
    if (!wide(path, name)) return NULL;
    for (wchar_t *at = name; *at; at++)
        if (*at == L'/') *at = L'\\';
    return (void *)LoadLibraryExW(name, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}
void *find(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }
void release_at_exit(void *library) {}
const char *why_not(void) {
    static char text[32];
    snprintf(text, sizeof text, "error %lu", GetLastError());
    return text;
}

FILE *open_text(const char *path) {
    wchar_t name[MOST];
    return wide(path, name) ? _wfopen(name, L"r") : NULL;
}
const char *without_escapes(char *path, size_t size, char *alias) {
    return strstr(path, "%20") ? "the path contains '%20', which pythonfmu takes for a blank: unpack the archive elsewhere" : NULL;
}
void remove_alias(const char *alias) {}

/* python3.dll of a folder, with the folder where its other libraries are looked for. */
static int from_folder(const char *folder) {
    char path[MOST + 32];
    snprintf(path, sizeof path, "%s\\python3.dll", folder);
    return open_library(path) != NULL;
}

/* Newest first: the registry sorts 3.10 before 3.9. */
static int from_registry(HKEY root) {
    for (int minor = 30; minor >= 9; minor--) {
        char key[96], folder[MOST];
        DWORD size = sizeof folder;
        snprintf(key, sizeof key, "Software\\Python\\PythonCore\\3.%d\\InstallPath", minor);
        if (!RegGetValueA(root, key, NULL, RRF_RT_REG_SZ, NULL, folder, &size)) {
            size_t n = strlen(folder);
            if (n && folder[n - 1] == '\\') folder[n - 1] = 0;
            if (from_folder(folder)) return 1;
        }
    }
    return 0;
}

const char *bring_python(const char *chosen) {
    char folder[MOST], *home = getenv("PYTHONHOME"), found[MOST];
    if (GetModuleHandleA("python3.dll")) return NULL;
    if (*chosen) {
        snprintf(folder, sizeof folder, "%s", chosen);
        char *last = strrchr(folder, '\\');
        if (last && strstr(last, ".exe")) *last = 0;
        return from_folder(folder) ? NULL : NONE;
    }
    if (home && from_folder(home)) return NULL;
    if (SearchPathA(NULL, "python3.dll", NULL, sizeof found, found, NULL) && open_library(found)) return NULL;
    if (from_registry(HKEY_CURRENT_USER) || from_registry(HKEY_LOCAL_MACHINE)) return NULL;
    return NONE;
}
#else
#include <dlfcn.h>
#include <unistd.h>
#include <wchar.h>

void *open_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); } /* threads of Python may outlive a host's dlclose */
void *find(void *library, const char *name) { return dlsym(library, name); }

/* pythonfmu's library gives its reference to the interpreter back twice at the end of the process: when its variables are destroyed, and again when it is
   finalised, in memory that others may have by then. Called before both, its finaliser leaves nothing that could be given back. The library stays to the end. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
void release_at_exit(void *library) {
    void (*finalize)(void *) = (void (*)(void *))dlsym(library, "finalizePythonInterpreter");
    if (finalize) __cxa_atexit(finalize, NULL, NULL);
}
const char *why_not(void) {
    const char *text = dlerror();
    return text ? text : "unknown reason";
}

FILE *open_text(const char *path) { return fopen(path, "r"); }

const char *without_escapes(char *path, size_t size, char *alias) {
    if (!strstr(path, "%20")) return NULL;
    char folder[] = "/tmp/kinetree-XXXXXX";
    if (!mkdtemp(folder)) return "the path contains '%20', which pythonfmu takes for a blank, and no link to it can be made: unpack the archive elsewhere";
    sprintf(alias, "%s/resources", folder);
    if (symlink(path, alias)) return "the path contains '%20', which pythonfmu takes for a blank, and no link to it can be made: unpack the archive elsewhere";
    snprintf(path, size, "%s", alias);
    return NULL;
}

void remove_alias(const char *alias) {
    char folder[64];
    unlink(alias);
    snprintf(folder, sizeof folder, "%s", alias);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
}

/* Library and home of an interpreter, asked of itself. */
static int asked(const char *python, char *library, char *home) {
    static const char QUESTION[] =
        "import os,sys,sysconfig;v=sysconfig.get_config_var;print(os.path.join(v('LIBDIR') or '',v('INSTSONAME') or ''));print(sys.base_prefix)";
    char command[2 * MOST];
    if (strchr(python, '\'')) return 0;
    snprintf(command, sizeof command, "'%s' -I -c \"%s\" 2>/dev/null", python, QUESTION);
    FILE *answer = popen(command, "r");
    if (!answer) return 0;
    int good = fgets(library, MOST, answer) && fgets(home, MOST, answer);
    pclose(answer);
    library[good ? strcspn(library, "\n") : 0] = 0;
    home[good ? strcspn(home, "\n") : 0] = 0;
    return good && strstr(library, ".so") && access(library, R_OK) == 0;
}

static int opened(const char *python) {
    char library[MOST], home[MOST];
    static wchar_t kept[MOST];
    if (!asked(python, library, home)) return 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (!handle) return 0;
    void (*set_home)(const wchar_t *) = (void (*)(const wchar_t *))dlsym(handle, "Py_SetPythonHome");
    int *utf8 = (int *)dlsym(handle, "Py_UTF8Mode"); /* names of files are UTF-8 whatever the host's locale is */
    if (utf8) *utf8 = 1;
    if (!getenv("PYTHONHOME") && set_home && mbstowcs(kept, home, MOST - 1) != (size_t)-1) set_home(kept);
    return 1;
}

const char *bring_python(const char *chosen) {
    static const char *const PLACES[] = {"python3", "/usr/local/bin/python3", "/usr/bin/python3"};
    char python[MOST];
    if (dlsym(RTLD_DEFAULT, "Py_Initialize")) return NULL;
    if (*chosen) return opened(chosen) ? NULL : "the interpreter that the archive's resources/python.txt names cannot be used: it is not there, or has no shared library";
    if (getenv("PYTHONHOME")) {
        snprintf(python, sizeof python, "%s/bin/python3", getenv("PYTHONHOME"));
        if (opened(python)) return NULL;
    }
    for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES; k++)
        if (opened(PLACES[k])) return NULL;
    return NONE;
}
#endif
