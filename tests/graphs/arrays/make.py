"""The fixtures in this folder: `python make.py` writes them beside itself.

needs  numpy, scipy, pyarrow, pandas, polars, duckdb, safetensors; written with numpy 2.4.6, pyarrow 26.0.1, duckdb 2.0.0
"""
import os, shutil
import duckdb, numpy as np, pandas as pd, polars as pl, pyarrow as pa, pyarrow.feather as fe, pyarrow.parquet as pq, scipy.sparse as sp
from safetensors.numpy import save_file

HERE = os.path.dirname(os.path.abspath(__file__))


def enter(name):
    shutil.rmtree(os.path.join(HERE, name), ignore_errors=True)
    os.makedirs(os.path.join(HERE, name))
    os.chdir(os.path.join(HERE, name))


enter('npy')
def save(name, a, **k): np.save(name, a, **k)
# npy
for d in ['i1','i2','<i4','>i4','<i8','>i8','u1','<u2','>u2','<u4','<u8','>u8','<f2','>f2','<f4','>f4','<f8','>f8']:
    a = np.array([[0,1,2],[3,100,5]], dtype=d)
    n = np.dtype(d).name + ('be' if d[0]=='>' else '')
    save(f'{n}.npy', a)
save('bool.npy', np.array([True,False,True]))
save('fortran.npy', np.asfortranarray(np.arange(24,dtype='<i4').reshape(2,3,4)))
save('text.npy', np.array(['a','bc','dé€f']))
save('bytes.npy', np.array([b'a',b'bc',b'def']))
save('half.npy', np.array([0,1,-2,0.5,6e-8,65504,np.inf,-np.inf,np.nan,0.000123],dtype='<f2'))
save('single.npy', np.array(7, dtype='<i8'))
save('objects.npy', np.array(['ab', 'c', 'ab'], dtype=object), allow_pickle=True)
save('mixed.npy', np.array([1, 2.5, True], dtype=object), allow_pickle=True)
save('matrix.npy', np.array(sp.csr_matrix(np.array([[0,1,0],[2,0,3]],dtype=np.float32)), dtype=object), allow_pickle=True)
class Evil:
    def __reduce__(self): return (os.getcwd, ())
save('evil.npy', np.array([Evil()], dtype=object), allow_pickle=True)
for v in [(2,0),(3,0)]:
    with open(f'version{v[0]}.npy','wb') as f: np.lib.format.write_array(f, np.arange(5,dtype='<i8'), version=v)
save('empty.npy', np.zeros((0,3),dtype='<f4'))
save('complex.npy', np.zeros(2,dtype='c8'))
save('record.npy', np.zeros(2,dtype=[('a','i4'),('b','f4')]))

enter('npz')
s=np.array([1,2,2,2,5,8]);t=np.array([2,1,3,3,5,1]);w=np.array([.5,.5,1,2,3,-1.5],dtype=np.float32)
m=sp.coo_matrix((w,(s,t)),shape=(9,9)).tocsr()
sp.save_npz('csr.npz',m); sp.save_npz('csc.npz',m.tocsc()); sp.save_npz('coo.npz',m.tocoo(),compressed=False)
np.savez_compressed('gnnadvisor.npz',src_li=s,dst_li=t,num_nodes=9)
def bench(name, **over):
    a=dict(adj_data=np.ones(2,np.float32),adj_indices=np.array([1,0],np.int32),adj_indptr=np.array([0,1,2,2],np.int32),adj_shape=np.array([3,3]),
      attr_data=np.array([1,1,2,.5,0],np.float32),attr_indices=np.array([2,4,1,4,0],np.int32),attr_indptr=np.array([0,1,5,5],np.int32),attr_shape=np.array([3,5]),
      labels=np.array([1,-1,0]),node_names=np.array(['a','b','c'],dtype=object),class_names=np.array(['zebra','ant']),idx_to_attr=np.array({0:'x'},dtype=object))
    a.update(over); np.savez_compressed(name,**{k:v for k,v in a.items() if v is not None})
bench('benchmark.npz')
bench('bad-rows.npz',attr_indptr=np.array([0,5],np.int32),attr_shape=np.array([1,5]))
bench('bad-class.npz',labels=np.array([0,2,1]))
def masked(name, **over):
    a=dict(node_features=np.eye(3,2,dtype=np.float32),node_labels=np.array([0,1,1]),edges=np.array([[0,1],[1,2]]),
      train_masks=np.array([[1,0,0],[0,1,0]],bool),val_masks=np.array([[0,1,0],[0,0,1]],bool),test_masks=np.array([[0,0,1],[1,0,0]],bool))
    a.update(over); np.savez_compressed(name,**a)
masked('masked.npz'); masked('bad-mask.npz',test_masks=np.array([[1,0,0],[0,0,0]],bool))
def sci(name, **over):
    a=dict(format=np.array(b'csr'),shape=np.array([2,2]),data=np.ones(2,np.float32),indices=np.array([1,0],np.int32),indptr=np.array([0,1,2],np.int32))
    a.update(over); np.savez_compressed(name,**a)
sci('bad-offsets.npz',shape=np.array([3,3])); sci('bad-index.npz',indices=np.array([2,0])); sci('bad-weight.npz',data=np.array([1,np.nan]))
sci('bad-square.npz',shape=np.array([2,3])); sci('bad-form.npz',format=np.array(b'bsr'))
np.savez_compressed('bad-claim.npz',format=np.array(b'coo'),shape=np.array([10**12,10**12]),data=np.ones(1),row=np.array([0]),col=np.array([1]))
np.savez_compressed('bad-id.npz',src_li=np.array([0,1]),dst_li=np.array([1,5]),num_nodes=2)
np.savez_compressed('bad-names.npz',a=np.array([0,1]),b=np.array([1,5]))

enter('hetero')
open('pa.txt','w').write('1 1\n0 0\n0 1\n')
np.save('a_feat.npy',np.array([[1,2],[3,4],[5,6]],dtype=np.float64))
sp.save_npz('p_feat.npz',sp.csr_matrix(np.array([[0,0,1],[1,0,0]],dtype=np.float64)))
np.save('labels.npy',np.array([3.,0.]))
np.save('train_20.npy',np.array([0])); np.save('test_20.npy',np.array([1])); np.save('val_20.npy',np.array([],dtype=np.int64))
np.save('train_40.npy',np.array([1])); np.save('test_40.npy',np.array([0]))

enter('attach')
for s in ['words','numbers','pickled']: os.makedirs(s,exist_ok=True)
x=np.arange(12,dtype='<f4').reshape(6,2); y=np.array([0,1,-1,0,1,1])
tr=np.array([1,1,0,0,0,0],bool); va=np.array([0,0,1,1,0,0],bool); te=np.array([0,0,0,0,1,0],bool)
np.save('features.npy',np.asfortranarray(x)); np.save('labels.npy',y); np.save('train_mask.npy',tr); np.save('val_mask.npy',va); np.save('test_mask.npy',te)
np.savez_compressed('all.npz',x=x,y=y,train_mask=tr,val_mask=va,test_mask=te,edge_index=np.zeros((2,3)))
np.save('words/ids.npy',np.array(['c','a','d','b'])); np.save('words/x.npy',np.array([[10],[20],[30],[40]],'<f8'))
np.save('words/y.npy',np.array(['blue','red','red','blue'])); np.save('words/train_idx.npy',np.array([0])); np.save('words/test_idx.npy',np.array([1]))
np.save('numbers/ids.npy',np.array([30,5,10,20])); sp.save_npz('numbers/features.npz',sp.csr_matrix(np.array([[1,0,0],[0,2,0],[0,0,3],[0,0,0]],dtype=np.float32)))
np.save('numbers/train_mask.npy',np.array([[1,0,1,0],[0,1,0,0]],bool))
xx=np.array([[1,-2],[.5,4],[0,8]],np.float32)
save_file({'x':xx,'y':np.array([0,1,1]),'split':np.array([1,3,2],np.uint8)},'tensors.safetensors')
save_file({'weights':xx.astype(np.float16)},'x.safetensors')
np.save('pickled/features.npy',np.array(sp.csr_matrix(np.array([[0,3],[0,0],[4,0]],dtype=np.float32)),dtype=object),allow_pickle=True)
np.save('pickled/split.npy',np.array([[1,3],[2,2],[3,1]],np.int8))

enter('tables')
S=[1,2,2,2,5,8];T=[2,1,3,3,5,1];W=[.5,.5,1,2,3,-1.5]
df=pd.DataFrame(dict(source=S,target=T,weight=W))
t=pa.Table.from_pandas(df,preserve_index=False)
# one tiny graph, many writers
os.makedirs('tiny')
for c in ['snappy','gzip','lz4','zstd','none','brotli']:
    pq.write_table(t,f'tiny/{c}.parquet',compression=c)
df.to_parquet('tiny/pandas.parquet',index=False)
pl.from_pandas(df).write_parquet('tiny/polars.parquet')
fe.write_feather(t,'tiny/lz4.feather',compression='lz4'); fe.write_feather(t,'tiny/zstd.feather',compression='zstd'); fe.write_feather(t,'tiny/plain.arrow',compression='uncompressed')
fe.write_feather(t,'tiny/version1.feather',version=1)
with pa.ipc.new_stream('tiny/stream.arrows',t.schema) as w:
    for b in t.to_batches(max_chunksize=2): w.write_batch(b)
with pa.ipc.new_stream('tiny/packed.arrows',t.schema,options=pa.ipc.IpcWriteOptions(compression='lz4')) as w: w.write_table(t)
pl.from_pandas(df).write_ipc('tiny/polars.arrow')
pq.write_table(t,'tiny/groups.parquet',row_group_size=2,compression='snappy')
for n,(a,b) in dict(src_dst=('src','dst'),from_to=('From','TO'),uv=('u','v'),head_tail=('head','tail')).items():
    pq.write_table(t.rename_columns([a,b,'w']),f'tiny/{n}.parquet')
con=duckdb.connect()
con.register('edges',df)
con.execute("copy edges to 'tiny/duckdb.parquet' (format parquet)")
for ty in ['int8','uint8','int16','uint16','int32','uint32','uint64','decimal128(20,0)']:
    tt=pa.decimal128(20,0) if ty.startswith('dec') else getattr(pa,ty)()
    t2=t.set_column(0,'source',t['source'].cast(tt)).set_column(1,'target',t['target'].cast(tt))
    pq.write_table(t2,f'tiny/{ty.split("(")[0]}.parquet')
# words
words=pa.table(dict(source=pa.array(['b','a','b']).dictionary_encode(),target=pa.array(['a','c','c']).dictionary_encode(),type=pa.array(['likes','knows','likes'])))
os.makedirs('words')
pq.write_table(words,'words/dictionary.parquet'); fe.write_feather(words,'words/dictionary.feather')
pl.DataFrame(dict(source=['b','a','b'],target=['a','c','c'],type=['likes','knows','likes'])).write_parquet('words/polars.parquet')
pl.DataFrame(dict(source=['b','a','b'],target=['a','c','c'],type=['likes','knows','likes'])).write_ipc('words/views.arrow',compat_level=pl.CompatLevel.newest())
pq.write_table(pa.table(dict(source=pa.array([b'b',b'a',b'b']),target=pa.array(['a','c','c'],pa.large_string()),type=pa.array(['likes','knows','likes']))),'words/bytes.parquet')
# spark: as Spark lays parts out (same names; written by pyarrow)
os.makedirs('spark/edges.parquet'); 
for i,(a,b) in enumerate([(0,3),(3,3),(3,6)]):
    n=f'spark/edges.parquet/part-{i:05d}-0b1c-c000.snappy.parquet'
    pq.write_table(t.slice(a,b-a),n,compression='snappy',flavor='spark')
    open(f'spark/edges.parquet/.part-{i:05d}-0b1c-c000.snappy.parquet.crc','wb').write(b'crc\0\0\0\2\0')
open('spark/edges.parquet/_SUCCESS','w')
# dask: part.0 ... part.10, _metadata
os.makedirs('dask/edges.parquet')
for i in range(12):
    pq.write_table(t.slice(i//2,1) if i%2 else t.slice(0,0),f'dask/edges.parquet/part.{i}.parquet')
pq.write_metadata(t.schema,'dask/edges.parquet/_metadata'); pq.write_metadata(t.schema,'dask/edges.parquet/_common_metadata')
# duckdb: several files, and hive partitions
os.makedirs('duckdb')
con.execute("create table typed as select * from (values (1,2,'likes',0.5),(2,1,'knows',1.5),(2,3,'likes',2.5),(3,1,'a b',1.0)) x(source,target,type,weight)")
con.execute("copy typed to 'duckdb/edges' (format parquet, partition_by (type))")
# nodes
os.makedirs('nodes')
pq.write_table(t,'nodes/edges.parquet')
nodes=pa.table(dict(id=pa.array([8,1,3,2,5,9]),label=pa.array(['x','y',None,'x','z','y']),split=pa.array(['train','val','test',None,'train','none']),
  kind=pa.array(['b','a','a','a','b','a']),features=pa.array([[8.,0],[1,0],[3,0],[2,0],[5,0],[9,0]],pa.list_(pa.float32(),2)),
  age=pa.array([1,None,3,4,5,6]),height=pa.array([1.5,2,None,4,5,6]),town=pa.array(['p',None,'q','r','s','t']),
  day=pa.array([0,1,2,3,4,None],pa.date32()),ok=pa.array([True,False,None,True,True,True])))
pq.write_table(nodes,'nodes/nodes.parquet',row_group_size=2)
os.makedirs('numbered'); pq.write_table(t,'numbered/edges.parquet')
fe.write_feather(pa.table(dict(id=[1,2,3,5,8],y=[.5,None,1,2,3],x0=[1,2,3,4,5],x1=[1.5,2.5,3.5,4.5,5.5],train_mask=[True,False,False,False,False],test_mask=[False,True,True,False,None])),'numbered/nodes.feather')
# many graphs
os.makedirs('graphs')
pq.write_table(pa.table(dict(source=[1,3],target=[2,4])),'graphs/edges.parquet')
pq.write_table(pa.table(dict(id=[1,2,3,4],graph=[20,20,10,10])),'graphs/nodes.parquet')
pq.write_table(pa.table(dict(id=[20,10,30],label=[1,0,1],split=['train','test','train'])),'graphs/graphs.parquet')
# wrong
os.makedirs('wrong')
w=lambda n,**k: pq.write_table(pa.table(k),f'wrong/{n}.parquet')
w('null',source=pa.array([1,None]),target=pa.array([2,3])); w('null_word',source=pa.array(['a',None]),target=pa.array(['a','b']))
w('negative',source=[1,2],target=[-1,2]); w('real',source=[1.0,2.5],target=[1.0,2.0]); w('gap',source=[1.0,2.0],target=[1.0,None])
w('mixed',source=[1,2],target=['a','b']); w('names',a=[1],b=[2]); w('weight',source=[1],target=[2],weight=[float('nan')]); w('weight_null',source=[1],target=[2],weight=pa.array([None],pa.float32()))
w('list',source=[[1]],target=[[2]]); w('struct',source=[{'a':1}],target=[{'a':1}])
